-- The person whom an agent names as signed in, by whom lists filter and sums are made: one device may export for many people.
ALTER TABLE trace_sessions ADD COLUMN user_email TEXT;
UPDATE trace_sessions SET user_email = lower(trim(document ->> '$.userEmail'))
WHERE CASE WHEN json_valid(document) THEN json_type(document, '$.userEmail') = 'text'
  AND instr(document ->> '$.userEmail', '@') AND octet_length(document ->> '$.userEmail') <= 320 END;
ALTER TABLE session_figures ADD COLUMN user_email TEXT NOT NULL DEFAULT '';
UPDATE session_figures SET user_email = s.user_email FROM trace_sessions s
WHERE s.id = session_figures.session_id AND s.user_email IS NOT NULL;
ALTER TABLE spend_cells ADD COLUMN session_user TEXT NOT NULL DEFAULT '';
UPDATE spend_cells SET session_user = s.user_email FROM trace_sessions s
WHERE s.device_id = spend_cells.device_id AND s.external_id = spend_cells.session AND s.user_email IS NOT NULL;
-- For a session that a client sent and that names nobody, the person named in the exported session counts.
CREATE TEMP TABLE named AS
SELECT w.id, w.device_id, w.external_id, o.user_email, min(o.id) FROM trace_sessions o
  JOIN trace_sessions w ON w.team_id = o.team_id AND w.external_id = o.external_id AND w.exported = 0 AND w.user_email IS NULL
WHERE o.exported = 2 AND o.user_email IS NOT NULL GROUP BY w.id;
UPDATE session_figures SET user_email = n.user_email FROM temp.named n WHERE n.id = session_figures.session_id;
UPDATE spend_cells SET session_user = n.user_email FROM temp.named n
WHERE n.device_id = spend_cells.device_id AND n.external_id = spend_cells.session;
DROP TABLE temp.named;
