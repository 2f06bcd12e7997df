-- Run once, by the PostgreSQL container on its new volume: the database and who may connect to it.
-- What each role may do with each table is set after every migration; see migrations/privileges.py.

\getenv owner_password VOCBOARD_OWNER_PASSWORD
\getenv web_password VOCBOARD_WEB_PASSWORD
\getenv worker_password VOCBOARD_WORKER_PASSWORD

CREATE ROLE vocboard_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE vocboard_web LOGIN PASSWORD :'web_password';
CREATE ROLE vocboard_worker LOGIN PASSWORD :'worker_password';

CREATE DATABASE vocboard OWNER vocboard_owner ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE vocboard FROM PUBLIC;
GRANT CONNECT ON DATABASE vocboard TO vocboard_web, vocboard_worker;
