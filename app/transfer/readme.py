"""What an export says of itself."""

README = """This archive holds one challenge of a vocboard server, without its ground truth.

Import it with Organise > Import challenge, or: vocboard admin import-challenge FILE --organiser EMAIL

Scores are fractions at full precision, and people have their email addresses: keep it as you keep the ground truth.

challenge.json      rules, phases and edition, in all its versions
people.jsonl, .csv  who has submitted or organised
bans.jsonl          who may not take part
submissions.jsonl   submissions with their current scores
scores.csv, .parquet  all scores, one a row
leaderboards/       leaderboards as they were shown; "-later" is what was published after they were frozen
frozen-leaderboards.jsonl  what frozen leaderboards show, unrounded
corrections.jsonl   re-scores that were applied
admissions.jsonl    who was admitted to phases
extra-quotas.jsonl  extra quota of people
log.jsonl, .csv     audit log
image-sets.json     what is public of the ground truth; those of other phases begin with the phase
archives/           submitted archives, by SHA-256; those that were lost or damaged have "has_archive": false in
                    submissions.jsonl
"""
