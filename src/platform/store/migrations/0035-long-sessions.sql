-- An index of a session's spans in the order of arrival, so that their documents need not be read: there may be hundreds of thousands.
-- `signs` is null for a span that came before signs were judged.
ALTER TABLE trace_spans ADD COLUMN signs INTEGER;
CREATE INDEX trace_spans_by_arrival ON trace_spans (session_id, id, started_at, ended_at, delivery_id, signs);

DROP INDEX spend_cells_of_team;
CREATE INDEX spend_cells_of_team ON spend_cells (team_id, session, otlp, counts);
