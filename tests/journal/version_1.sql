-- A journal as version 1 of its tables is: one finished run.
BEGIN TRANSACTION;
CREATE TABLE blobs (run INTEGER, seq INTEGER, data BLOB NOT NULL, PRIMARY KEY (run, seq));
CREATE TABLE events (run INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (run, seq));
INSERT INTO "events" VALUES(1,1,'{"type":"run_started","at":"2026-03-01T12:00:01.000005Z","elapsed_s":1.0,"team":"counters","request":"count the words","engine":"deterministic","deadline_s":600.0}');
INSERT INTO "events" VALUES(1,2,'{"type":"plan_proposed","at":"2026-03-01T12:00:02.000005Z","elapsed_s":2.0,"plan":{"goal":"count","tasks":[{"id":"a","worker":"count","intent":"count a"},{"id":"b","worker":"count","intent":"count b"}]},"by":"planner"}');
INSERT INTO "events" VALUES(1,3,'{"type":"plan_accepted","at":"2026-03-01T12:00:03.000005Z","elapsed_s":3.0}');
INSERT INTO "events" VALUES(1,4,'{"type":"task_dispatched","at":"2026-03-01T12:00:04.000005Z","elapsed_s":4.0,"task_id":"a","attempt":1,"worker":"count"}');
INSERT INTO "events" VALUES(1,5,'{"type":"task_completed","at":"2026-03-01T12:00:05.000005Z","elapsed_s":5.0,"task_id":"a","attempt":1,"result":{"output":"3 words","summary":"counted","confidence":90}}');
INSERT INTO "events" VALUES(1,6,'{"type":"task_dispatched","at":"2026-03-01T12:00:06.000005Z","elapsed_s":6.0,"task_id":"b","attempt":1,"worker":"count"}');
INSERT INTO "events" VALUES(1,7,'{"type":"task_completed","at":"2026-03-01T12:00:07.000005Z","elapsed_s":7.0,"task_id":"b","attempt":1,"result":{"output":"3 words","summary":"counted","confidence":90}}');
INSERT INTO "events" VALUES(1,8,'{"type":"run_finished","at":"2026-03-01T12:00:08.000005Z","elapsed_s":8.0,"answer":{"run_id":"old","status":"complete","engine":"deterministic","team":"counters","request":"count the words","answer":"6 words","metrics":{"makespan_s":8.0,"cost_usd":0.25}}}');
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, body TEXT);
CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            updated_at TEXT NOT NULL,
            digest TEXT NOT NULL
        );
INSERT INTO "runs" VALUES(1,'old','2026-03-01T12:00:08.000005+00:00','{"started_at":"2026-03-01T12:00:01.000005Z","updated_at":"2026-03-01T12:00:08.000005Z","team":"counters","request":"count the words","proposed":2,"tasks":2,"completed":2,"status":"complete","makespan_s":8.0,"cost_usd":0.25}');
DELETE FROM "sqlite_sequence";
COMMIT;
PRAGMA user_version = 1;
