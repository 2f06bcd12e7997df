-- The database and who may connect to it. The PostgreSQL container runs this once, on its new volume; running it again
-- adds the roles that are missing and gives all of them the passwords of .env (see docs/operators.md, "Upgrade").
-- What each role may do with each table is set after every migration; see migrations/privileges.py.

\getenv owner_password VOCBOARD_OWNER_PASSWORD
\getenv web_password VOCBOARD_WEB_PASSWORD
\getenv worker_password VOCBOARD_WORKER_PASSWORD
\getenv mail_password VOCBOARD_MAIL_PASSWORD

SELECT format('CREATE ROLE %I', name)
FROM unnest(ARRAY['vocboard_owner', 'vocboard_web', 'vocboard_worker', 'vocboard_mail']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name)
\gexec

ALTER ROLE vocboard_owner LOGIN PASSWORD :'owner_password';
ALTER ROLE vocboard_web LOGIN PASSWORD :'web_password';
ALTER ROLE vocboard_worker LOGIN PASSWORD :'worker_password';
ALTER ROLE vocboard_mail LOGIN PASSWORD :'mail_password';

SELECT 'CREATE DATABASE vocboard OWNER vocboard_owner ENCODING ''UTF8'' TEMPLATE template0'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'vocboard')
\gexec
REVOKE ALL ON DATABASE vocboard FROM PUBLIC;
GRANT CONNECT ON DATABASE vocboard TO vocboard_web, vocboard_worker, vocboard_mail;
