CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  number INTEGER NOT NULL,         -- of the runs of this name, from 1
  saved TEXT NOT NULL,             -- when, in UTC: 2026-11-30T12:00:00Z
  started TEXT NOT NULL,
  summary TEXT NOT NULL,           -- the last line of its report
  document BLOB NOT NULL,          -- its result file, packed by zlib
  document_bytes INTEGER NOT NULL, -- unpacked
  UNIQUE (name, number)
);
CREATE TABLE environment (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,          -- in the order of a report
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run_id, place)
) WITHOUT ROWID;
CREATE TABLE measured (
  check_id TEXT NOT NULL,
  device TEXT NOT NULL,
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  verdict TEXT NOT NULL,           -- '' where it was not judged
  path TEXT NOT NULL,
  of_device INTEGER NOT NULL,      -- 1: median_us is device time, 0: wall time
  median_us REAL,                  -- NULL: not timed
  PRIMARY KEY (check_id, device, run_id)
) WITHOUT ROWID;
CREATE INDEX measured_by_run ON measured (run_id);
INSERT INTO run VALUES (1, 'before', 1, '2026-11-30T12:00:00Z', '2026-11-30T11:59:00Z', 'Summary', x'789c4b4c4a0600024d0127', 3);
INSERT INTO environment VALUES (1, 0, 'LibTorch', '2.10.0');
INSERT INTO measured VALUES ('norm/layer_norm[float32]', 'cpu', 1, 'ok', 'pass', 'native', 0, 12.5);
PRAGMA application_id = 1634956153;
PRAGMA user_version = 1;
