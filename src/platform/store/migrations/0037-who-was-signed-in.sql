-- Whom an agent names as signed in, it stands in lists and sums for: one device may export for many.
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
