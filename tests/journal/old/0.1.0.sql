-- Written by `python -m tests.resuming.old`, and not to be changed.
BEGIN TRANSACTION;
CREATE TABLE blobs (run INTEGER, seq INTEGER, data BLOB NOT NULL, PRIMARY KEY (run, seq));
CREATE TABLE events (run INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (run, seq));
INSERT INTO "events" VALUES(1,1,'{"type":"run_started","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"team":"gallery","request":"see to the picture","engine":"deterministic","deadline_s":600.0,"nonce":"a7e3bf77"}');
INSERT INTO "events" VALUES(1,2,'{"type":"plan_proposed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"plan":{"goal":"see to the picture","tasks":[{"id":"of-expert","worker":"expert","intent":"see to it: expert"},{"id":"last","worker":"clerk","intent":"put it together","depends_on":["of-expert"]}]},"by":"person"}');
INSERT INTO "events" VALUES(1,3,'{"type":"plan_accepted","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0}');
INSERT INTO "events" VALUES(1,4,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-expert","attempt":1,"worker":"expert"}');
INSERT INTO "events" VALUES(1,5,'{"type":"task_completed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-expert","attempt":1,"result":{"output":"it is green","confidence":90}}');
INSERT INTO "events" VALUES(1,6,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"last","attempt":1,"worker":"clerk"}');
INSERT INTO "events" VALUES(1,7,'{"type":"task_completed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"last","attempt":1,"result":{"output":"last is filed"}}');
INSERT INTO "events" VALUES(1,8,'{"type":"synthesis_started","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"strategy":"merge"}');
INSERT INTO "events" VALUES(1,9,'{"type":"run_finished","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"answer":{"run_id":"finished","status":"complete","engine":"deterministic","team":"gallery","request":"see to the picture","answer":"## of-expert (expert)\n\nit is green\n\n## last (clerk)\n\nlast is filed","output":{"of-expert":"it is green","last":"last is filed"},"confidence":90,"tasks":[{"id":"of-expert","worker":"expert","status":"completed","attempts":1,"started_s":0.0,"finished_s":0.0},{"id":"last","worker":"clerk","status":"completed","attempts":1,"depends_on":["of-expert"],"started_s":0.0,"finished_s":0.0}]}}');
INSERT INTO "events" VALUES(2,1,'{"type":"run_started","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"team":"gallery","request":"see to the picture","engine":"deterministic","deadline_s":600.0,"nonce":"5b83ce76"}');
INSERT INTO "events" VALUES(2,2,'{"type":"plan_proposed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"plan":{"goal":"see to the picture","tasks":[{"id":"of-expert","worker":"expert","intent":"see to it: expert"},{"id":"of-guesser","worker":"guesser","intent":"see to it: guesser"},{"id":"last","worker":"clerk","intent":"put it together","depends_on":["of-expert","of-guesser"]}]},"by":"person"}');
INSERT INTO "events" VALUES(2,3,'{"type":"plan_accepted","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0}');
INSERT INTO "events" VALUES(2,4,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-expert","attempt":1,"worker":"expert"}');
INSERT INTO "events" VALUES(2,5,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-guesser","attempt":1,"worker":"guesser"}');
INSERT INTO "events" VALUES(2,6,'{"type":"task_completed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-expert","attempt":1,"result":{"output":"it is green","confidence":90}}');
INSERT INTO "events" VALUES(2,7,'{"type":"task_escalated","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-guesser","attempt":1,"reason":"low_confidence","message":"too dark to say","partial":{"output":"it may be blue","confidence":20},"final":false,"decision":"guesser ended with low_confidence; expert tries too"}');
INSERT INTO "events" VALUES(3,1,'{"type":"run_started","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"team":"gallery","request":"see to the picture","engine":"deterministic","deadline_s":600.0,"nonce":"2385a8af"}');
INSERT INTO "events" VALUES(3,2,'{"type":"plan_proposed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"plan":{"goal":"see to the picture","tasks":[{"id":"of-expert","worker":"expert","intent":"see to it: expert"},{"id":"of-painter","worker":"painter","intent":"see to it: painter"},{"id":"last","worker":"clerk","intent":"put it together","depends_on":["of-expert","of-painter"]}]},"by":"person"}');
INSERT INTO "events" VALUES(3,3,'{"type":"plan_accepted","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0}');
INSERT INTO "events" VALUES(3,4,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-expert","attempt":1,"worker":"expert"}');
INSERT INTO "events" VALUES(3,5,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-painter","attempt":1,"worker":"painter"}');
INSERT INTO "events" VALUES(3,6,'{"type":"task_completed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-expert","attempt":1,"result":{"output":"it is green","confidence":90}}');
INSERT INTO "events" VALUES(3,7,'{"type":"task_escalated","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-painter","attempt":1,"reason":"ambiguous_input","message":"which colour?","final":false,"decision":"painter ended with ambiguous_input: a person is asked"}');
INSERT INTO "events" VALUES(3,8,'{"type":"approval_requested","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-painter","question":"painter (ambiguous input): which colour?\nIts task: see to it: painter"}');
INSERT INTO "events" VALUES(4,1,'{"type":"run_started","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"team":"gallery","request":"see to the picture","engine":"deterministic","deadline_s":600.0,"nonce":"89d9222a"}');
INSERT INTO "events" VALUES(4,2,'{"type":"plan_proposed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"plan":{"goal":"see to the picture","tasks":[{"id":"of-expert","worker":"expert","intent":"see to it: expert"},{"id":"of-annex","worker":"annex","intent":"see to it: annex"},{"id":"last","worker":"clerk","intent":"put it together","depends_on":["of-expert","of-annex"]}]},"by":"person"}');
INSERT INTO "events" VALUES(4,3,'{"type":"plan_accepted","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0}');
INSERT INTO "events" VALUES(4,4,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-expert","attempt":1,"worker":"expert"}');
INSERT INTO "events" VALUES(4,5,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-annex","attempt":1,"worker":"annex"}');
INSERT INTO "events" VALUES(4,6,'{"type":"run_started","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"within":["of-annex"],"team":"annex","request":"see to it: annex","engine":"deterministic","deadline_s":599.8,"nonce":"89d9222a"}');
INSERT INTO "events" VALUES(4,7,'{"type":"task_completed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"task_id":"of-expert","attempt":1,"result":{"output":"it is green","confidence":90}}');
INSERT INTO "events" VALUES(4,8,'{"type":"plan_proposed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"within":["of-annex"],"plan":{"goal":"see to it: annex","tasks":[{"id":"t0","worker":"clerk","intent":"file it"},{"id":"t1","worker":"filer","intent":"file it"}]},"by":"template"}');
INSERT INTO "events" VALUES(4,9,'{"type":"plan_accepted","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"within":["of-annex"]}');
INSERT INTO "events" VALUES(4,10,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"within":["of-annex"],"task_id":"of-annex/t0","attempt":1,"worker":"clerk"}');
INSERT INTO "events" VALUES(4,11,'{"type":"task_dispatched","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"within":["of-annex"],"task_id":"of-annex/t1","attempt":1,"worker":"filer"}');
INSERT INTO "events" VALUES(4,12,'{"type":"task_completed","at":"2000-01-01T00:00:00+00:00","elapsed_s":0.0,"within":["of-annex"],"task_id":"of-annex/t0","attempt":1,"result":{"output":"t0 is filed"}}');
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, body TEXT);
CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            updated_at TEXT NOT NULL,
            digest TEXT NOT NULL
        );
INSERT INTO "runs" VALUES(1,'finished','2000-01-01T00:00:00.000000+00:00','{"started_at":"2000-01-01T00:00:00Z","updated_at":"2000-01-01T00:00:00Z","team":"gallery","request":"see to the picture","proposed":2,"tasks":2,"completed":2,"status":"complete","makespan_s":0.0}');
INSERT INTO "runs" VALUES(2,'on-the-ladder','2000-01-01T00:00:00.000000+00:00','{"started_at":"2000-01-01T00:00:00Z","updated_at":"2000-01-01T00:00:00Z","team":"gallery","request":"see to the picture","proposed":3,"tasks":3,"completed":1}');
INSERT INTO "runs" VALUES(3,'asking','2000-01-01T00:00:00.000000+00:00','{"started_at":"2000-01-01T00:00:00Z","updated_at":"2000-01-01T00:00:00Z","team":"gallery","request":"see to the picture","proposed":3,"tasks":3,"completed":1,"questions":[":of-painter"]}');
INSERT INTO "runs" VALUES(4,'nested','2000-01-01T00:00:00.000000+00:00','{"started_at":"2000-01-01T00:00:00Z","updated_at":"2000-01-01T00:00:00Z","team":"gallery","request":"see to the picture","proposed":3,"tasks":3,"completed":1}');
DELETE FROM "sqlite_sequence";
COMMIT;
PRAGMA user_version = 1;
