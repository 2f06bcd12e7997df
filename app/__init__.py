"""vocboard's web application: accounts, challenges, submissions, leaderboards; REST API and pages."""
