-- Every account that an issuer was ever linked with; of earlier links only the present ones are known.
CREATE TABLE sso_holders (
  user_id    TEXT NOT NULL REFERENCES users (id),
  issuer_id  TEXT NOT NULL REFERENCES sso_issuers (id),
  subject    TEXT NOT NULL,
  PRIMARY KEY (user_id, issuer_id, subject)
) STRICT, WITHOUT ROWID;
INSERT INTO sso_holders SELECT user_id, issuer_id, subject FROM sso_identities;
