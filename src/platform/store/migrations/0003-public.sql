-- Product requests, brain packs, installers.
-- What people and agents ask of the product. `address_hash` is keyed with a secret of the installation, so that it tells
-- nothing but whether two requests came from one address. `context` is the JSON object as sent without the text, redacted.
CREATE TABLE product_requests (
  id            TEXT PRIMARY KEY,
  text          TEXT NOT NULL,
  context       TEXT NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('received', 'planned', 'in_progress', 'shipped', 'declined')),
  note          TEXT,
  merged_into   TEXT REFERENCES product_requests (id),
  address_hash  BLOB NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX product_requests_by_status ON product_requests (status, id);
CREATE INDEX product_requests_merged ON product_requests (merged_into) WHERE merged_into IS NOT NULL;

-- Random keys of the installation, by what they are for.
CREATE TABLE installation_keys (
  purpose     TEXT PRIMARY KEY,
  key         BLOB NOT NULL,
  created_at  INTEGER NOT NULL
) STRICT;

-- Brain packs: chosen files of a team's brain, published for everybody. `tags` is a JSON array of strings.
CREATE TABLE packs (
  id              TEXT PRIMARY KEY,
  team_id         TEXT NOT NULL REFERENCES teams (id),
  name            TEXT NOT NULL UNIQUE,
  title           TEXT NOT NULL,
  summary         TEXT NOT NULL,
  license         TEXT NOT NULL,
  tags            TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  featured_at     INTEGER,
  removed_at      INTEGER,
  removed_reason  TEXT
) STRICT;
CREATE INDEX packs_by_team ON packs (team_id, created_at);

-- `classes` is a JSON array of the fingerprints, in hexadecimal digits, of the dated entries with a prevention rule in its files.
-- `files` is a JSON array of {path, bytes, sha256}; `archive` the tar.gz as it is downloaded.
CREATE TABLE pack_versions (
  id          INTEGER PRIMARY KEY,
  pack_id     TEXT NOT NULL REFERENCES packs (id),
  version     TEXT NOT NULL,
  readme      TEXT NOT NULL,
  files       TEXT NOT NULL,
  rules       INTEGER NOT NULL,
  classes     TEXT NOT NULL,
  sha256      BLOB NOT NULL,
  created_at  INTEGER NOT NULL,
  created_by  TEXT NOT NULL,
  -- Last: what stands behind a large value is read through it.
  archive     BLOB NOT NULL,
  UNIQUE (pack_id, version)
) STRICT;

-- One row for each device that downloaded a pack with its token.
CREATE TABLE pack_installs (
  pack_id       TEXT NOT NULL REFERENCES packs (id),
  device_id     TEXT NOT NULL REFERENCES devices (id),
  version       TEXT NOT NULL,
  installed_at  INTEGER NOT NULL,
  PRIMARY KEY (pack_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pack_installs_recent ON pack_installs (installed_at);

-- Desktop installers. Those that we serve lie as files in the data directory's `releases/`, named by their SHA-512.
CREATE TABLE releases (
  platform    TEXT NOT NULL,
  version     TEXT NOT NULL,
  url         TEXT,
  file_name   TEXT,
  bytes       INTEGER NOT NULL,
  sha512      BLOB NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (platform, version)
) STRICT, WITHOUT ROWID;

ALTER TABLE teams ADD COLUMN verified_at INTEGER;
