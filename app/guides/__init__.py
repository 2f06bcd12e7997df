"""The documentation that the site serves: the Markdown files of docs/, and their pictures and examples."""
