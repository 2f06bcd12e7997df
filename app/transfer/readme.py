"""What an export says of itself."""

README = """This archive holds one challenge of a vocboard server, without its ground truth.

Import it with Organise > Import challenge, or: vocboard admin import-challenge FILE --organiser EMAIL

Scores are fractions at full precision, and people have their e-mail addresses: keep it as you keep the ground truth.

challenge.json      rules and edition
people.jsonl, .csv  who has submitted or organised
submissions.jsonl   submissions with their current scores
scores.csv, .parquet  all scores, one a row
leaderboards/       leaderboards as they were shown
log.jsonl, .csv     audit log
image-sets.json     what is public of the ground truth
archives/           submitted archives, by SHA-256
"""
