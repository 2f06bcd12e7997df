"""Files that outlive a request: archives of submissions, and ground truth on its sealed way in."""
