import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { asObject, asText, parseJson } from "../../src/formats/values.ts";
import { isObject } from "../../src/kit/json.ts";
import { verifyLedger } from "../../src/share/maintenance/maintenance.ts";
import { alterEntries } from "../support/entries.ts";
import { startWithDevice, startWithTeam, type TestDevice, type TestInstance } from "../support/instance.ts";
import { firstSteps, lines, sessionOf, sumUsage, type TelemetryEntry, telemetryOf } from "./convert.ts";
import { brains, describeReal, listData, type RealTranscript, readData, transcripts } from "./data.ts";
import { diskHolds, type Planted, plants, redacted } from "./planted.ts";
import { otlpSpans, readLangfuse, readOtlp, type TraceSession } from "./traces.ts";

/**
 * Counted with jq and grep: records of the file, prompts a person typed, model calls and tool calls. Spans are the last three
 * together. What the client answers itself (`<synthetic>`) is no call, and what it goes on with (`System: …`) no prompt.
 */
const COUNTED: Record<string, readonly [records: number, prompts: number, calls: number, tools: number]> = {
  "claude-code/EntityProcess__agentv/f6b7329a-914c-4f62-8090-4e29b032b173": [173, 1, 15, 17],
  "claude-code/entireio__cli/00ef13bd-99a1-4001-a829-09985a069ab2": [117, 5, 24, 23],
  "claude-code/entireio__cli/0a0314fb-b206-450f-b895-cd5181a28ae5": [39, 1, 9, 8],
  "claude-code/entireio__cli/0f6074fc-a0f5-4d56-8de0-f4a592ddcf3b": [78, 3, 14, 12],
  "claude-code/entireio__cli/1b3e6441-62e3-4b41-8a0c-9d252f531f7a": [9, 1, 2, 1],
  "claude-code/entireio__cli/22c5d52e-9602-4ffe-aaa1-0265b115ef3d": [60, 4, 10, 11],
  "claude-code/entireio__cli/34b1e2a4-8cec-4bb9-94a0-ec9e9c639c8e": [102, 2, 22, 20],
  "claude-code/entireio__cli/3de3ff10-2c78-4b94-b22f-f8ffb14305f6": [103, 1, 14, 13],
  "claude-code/entireio__cli/559081d6-534c-40b9-afeb-5eb72cd84309": [39, 2, 7, 9],
  "claude-code/entireio__cli/6da7d497-00e2-460d-a6b4-d280e0314cfd": [31, 3, 6, 3],
  "claude-code/entireio__cli/9fd328aa-ecda-4618-b1ed-047b284117c6": [62, 2, 9, 12],
  "claude-code/entireio__cli/b8c1e7e5-21c1-45b4-ae1d-ec10463aa4d5": [53, 1, 14, 14],
  "claude-code/entireio__cli/ce24e94d-ea12-40cb-9b87-ceb55770af78": [22, 1, 4, 3],
  "claude-code/entireio__cli/d563fb6b-39cf-4895-bb5f-681c33e58bbc": [101, 4, 18, 15],
  "codex/EntityProcess__agentv/019ed50c-2fb3-7002-a384-360bea6e7f04": [459, 6, 55, 105],
  "codex/EntityProcess__agentv/019ed836-b1da-78f1-8a0c-e598363d10f4": [92, 2, 10, 23],
  "codex/EntityProcess__agentv/019ed917-1cf7-72a3-92f5-c0aa98fb134e": [373, 2, 47, 98],
  "copilot-cli/EntityProcess__agentv/1afc31c8-d97f-4331-bae9-b6417f1b79a9": [15, 1, 1, 0],
  "copilot-cli/EntityProcess__agentv/832dd140-8fac-433c-a45a-d29e7b1a4a39": [15, 1, 1, 0],
  "fixtures/daaain__claude-code-log/edge_cases": [19, 3, 4, 3],
  "fixtures/daaain__claude-code-log/representative_messages": [12, 4, 5, 2],
  "fixtures/daaain__claude-code-log/session_b": [3, 2, 1, 0],
  "fixtures/daaain__claude-code-log/todowrite_examples": [12, 2, 6, 3],
  "gemini-cli/entireio__cli/29eb990e-c773-4302-a4e7-317f0af0001f": [1, 0, 0, 0],
  "gemini-cli/entireio__cli/f7633853-6663-4dbb-bbf4-6159afa29df8": [13, 1, 11, 9],
  "gemini-cli/entireio__cli/fa4593e0-f7e1-4dd1-b656-da95fb4d60fa": [4, 1, 2, 1],
  "gemini-cli/entireio__cli/faff42ab-6ea5-4f78-b8c4-f7dd6272af08": [6, 2, 4, 2],
};

function counted(name: string): { records: number; prompts: number; calls: number; tools: number; spans: number } {
  const [records, prompts, calls, tools] = COUNTED[name] ?? [0, 0, 0, 0];
  return { records, prompts, calls, tools, spans: prompts + calls + tools };
}

const MOST_ENTRIES = 1_000;
const MOST_BYTES = 3 * 1024 * 1024;

/** Cuts entries, given as JSON text, into batches that the service takes. */
function batches(entries: readonly string[]): string[][] {
  const all: string[][] = [[]];
  let bytes = 0;
  for (const entry of entries) {
    bytes += Buffer.byteLength(entry) + 1;
    if ((all.at(-1)?.length ?? 0) >= MOST_ENTRIES || bytes > MOST_BYTES) {
      all.push([]);
      bytes = Buffer.byteLength(entry);
    }
    all.at(-1)?.push(entry);
  }
  return all;
}

/** Sends a batch as an agent does: spelled by itself, gzipped. */
function sendEntries(t: TestInstance, device: TestDevice, repoKey: string, entries: readonly string[]) {
  const body = `{"repoKey":${JSON.stringify(repoKey)},"mode":"live","entries":[${entries.join(",")}]}`;
  return t.post("/api/telemetry/ingest", {
    token: device.token,
    body: gzipSync(body),
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
  });
}

/** A machine's stream for each repository: its sessions one after another, counting up through them. */
function streams(): Map<string, TelemetryEntry[]> {
  const all = new Map<string, TelemetryEntry[]>();
  for (const { repoKey, transcript, facts } of transcripts()) {
    const stream = all.get(repoKey) ?? [];
    stream.push(...telemetryOf(transcript, facts, stream.length + 1));
    all.set(repoKey, stream);
  }
  return all;
}

function storedEntries(t: TestInstance, device: TestDevice, repoKey: string) {
  return t.rows(
    `SELECT e.seq, e.client_timestamp AS clientTimestamp, e.payload FROM telemetry_entries e
     JOIN telemetry_streams s ON s.id = e.stream_id WHERE s.device_id = ? AND s.repo_key = ? ORDER BY e.seq`,
    device.deviceId,
    repoKey,
  ) as { seq: number; clientTimestamp: string | null; payload: string }[];
}

describeReal("transcripts of real agents, read", () => {
  it("all have their row in the hand-counted table", () => {
    expect(transcripts().map(({ name }) => name)).toEqual(Object.keys(COUNTED).sort());
  });

  it("hold as many prompts, model calls and tool calls as were counted by hand", () => {
    for (const { name, transcript, facts } of transcripts()) {
      const { prompts, spans } = sessionOf(transcript, facts);
      const ofKind = (kind: string) => spans.filter((span) => span.kind === kind).length;
      const read = {
        records: transcript.steps.length,
        prompts: prompts.length,
        calls: ofKind("llm"),
        tools: ofKind("tool"),
      };
      expect({ name, ...read, spans: spans.length }).toEqual({ name, ...counted(name) });
      expect(new Set(spans.map((span) => span.id)).size, `${name}: every span has an id of its own`).toBe(spans.length);
    }
  });

  it("cost the tokens that the capture tool counted when the work was committed", () => {
    const gold = asObject(parseJson(readData("transcripts/usage-gold.json"))).sessions as {
      file: string;
      first_line: number;
      expected: object;
    }[];
    expect(gold.length).toBe(8);
    const byFile = new Map(transcripts().map(({ name, transcript }) => [`transcripts/${name}.jsonl`, transcript]));
    for (const { file, first_line, expected } of gold)
      expect(sumUsage(byFile.get(file)?.steps.slice(first_line) ?? []), file).toEqual(expected);
    // Codex tells running totals; the capture tool's count of this session is whole.
    const codex = byFile.get("transcripts/codex/EntityProcess__agentv/019ed836-b1da-78f1-8a0c-e598363d10f4.jsonl");
    expect(sumUsage(codex?.steps ?? [])).toEqual({
      input_tokens: 36_058,
      output_tokens: 2_958,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 230_656,
    });
  });

  it("tell which lines were edited and which commits were made", () => {
    const sessions = new Map(transcripts().map(({ name, transcript, facts }) => [name, sessionOf(transcript, facts)]));
    const ofId = (id: string) => [...sessions].find(([name]) => name.includes(id))?.[1] as TraceSession;
    // Looked up in the transcripts' own patches and in git's answers.
    const claude = ofId("00ef13bd");
    expect(claude.files).toEqual(["cmd/entire/cli/strategy/common.go", "cmd/entire/cli/strategy/common_test.go"]);
    expect(claude.spans.flatMap((span) => span.edits ?? [])).toEqual([
      { path: "cmd/entire/cli/strategy/common.go", startLine: 294, endLine: 294, added: 1, removed: 0 },
      { path: "cmd/entire/cli/strategy/common.go", startLine: 296, endLine: 297, added: 2, removed: 2 },
      { path: "cmd/entire/cli/strategy/common_test.go", startLine: 708, endLine: 815, added: 108, removed: 0 },
    ]);
    expect(claude.commits.map(({ sha }) => sha.slice(0, 12))).toEqual(["58bd18f91ec4"]);
    expect(ofId("f6b7329a").commits.map(({ sha }) => sha)).toEqual(["7ff3be18", "7e89164f"]);
    expect(ofId("019ed917").commits.map(({ sha }) => sha)).toEqual(["fd07a0a5"]);
    expect(ofId("fa4593e0").spans.flatMap((span) => span.edits ?? [])).toEqual([
      { path: "test-gemini.txt", startLine: 1, endLine: 1 },
    ]);
  });
});

describeReal("transcripts of real agents, sent as telemetry", () => {
  it("are stored record for record as they were sent, without a gap and without a redaction", async () => {
    const { t, device } = await startWithDevice();
    let total = 0;
    for (const [repoKey, stream] of streams()) {
      let sent = 0;
      for (const batch of batches(stream.map((entry) => JSON.stringify(entry)))) {
        sent += batch.length;
        const answer = await sendEntries(t, device, repoKey, batch);
        // No record holds a secret: every candidate was looked at, all are masked or names of variables.
        expect(answer.body).toEqual({
          ok: true,
          accepted: batch.length,
          maxSeq: sent,
          flagged: null,
          serverRedacted: 0,
        });
      }
      const stored = storedEntries(t, device, repoKey);
      expect(stored.length).toBe(stream.length);
      stored.forEach((row, i) => {
        const { seq, clientTimestamp, payload } = stream[i] as TelemetryEntry;
        expect({ seq: row.seq, clientTimestamp: row.clientTimestamp }).toEqual({
          seq,
          clientTimestamp: clientTimestamp ?? null,
        });
        expect(row.payload === JSON.stringify(payload), `${repoKey} ${seq}`).toBe(true);
      });
      total += stored.length;
    }
    expect(total).toBe(Object.values(COUNTED).reduce((sum, [records]) => sum + records, 0));
    expect(t.count("telemetry_gaps") + t.count("telemetry_conflicts")).toBe(0);
  });

  it("change nothing when they are sent again, in whatever batches", async () => {
    const { t, device } = await startWithDevice();
    const all = streams();
    for (const [repoKey, stream] of all)
      for (const batch of batches(stream.map((entry) => JSON.stringify(entry))))
        await sendEntries(t, device, repoKey, batch);
    const before = { entries: t.count("telemetry_entries"), deliveries: t.count("deliveries") };
    for (const [repoKey, stream] of all) {
      const texts = stream.map((entry) => JSON.stringify(entry));
      const half = Math.floor(texts.length / 2);
      for (const part of [texts.slice(half), texts.slice(0, half + 1)].flatMap((texts) => batches(texts))) {
        const answer = await sendEntries(t, device, repoKey, part);
        expect(answer.body).toMatchObject({ accepted: 0, maxSeq: stream.length, flagged: null });
      }
    }
    expect({ entries: t.count("telemetry_entries"), deliveries: t.count("deliveries") }).toEqual(before);
    expect(t.count("telemetry_conflicts")).toBe(0);
  });

  it("say which records are missing when a batch is lost, and heal when it arrives late", async () => {
    const { t, device } = await startWithDevice();
    const [repoKey, stream] = [...streams()][0] as [string, TelemetryEntry[]];
    const texts = stream.map((entry) => JSON.stringify(entry));
    const [first, lost, last] = [texts.slice(0, 100), texts.slice(100, 250), texts.slice(250, 400)];
    await sendEntries(t, device, repoKey, first);
    const flagged = await sendEntries(t, device, repoKey, last);
    expect(flagged.body).toMatchObject({ accepted: 150, maxSeq: 400, flagged: "gap" });
    expect(t.rows("SELECT from_seq, to_seq FROM telemetry_gaps")).toEqual([{ from_seq: 101, to_seq: 250 }]);
    const healed = await sendEntries(t, device, repoKey, lost);
    expect(healed.body).toMatchObject({ accepted: 150, maxSeq: 400, flagged: null });
    expect(t.count("telemetry_gaps")).toBe(0);
    expect(storedEntries(t, device, repoKey).map((row) => row.seq)).toEqual(
      stream.slice(0, 400).map((entry) => entry.seq),
    );
  });

  it("keep every byte of a record that is itself the payload, however it spells its JSON", async () => {
    const { t, device } = await startWithDevice();
    let kept = 0;
    for (const { name, text } of transcripts()) {
      const records = lines(text).filter((line) => isObject(parseJson(line)));
      const entries = records.map((record, i) => `{"seq": ${i}, "payload": ${record}}`);
      for (const batch of batches(entries))
        expect((await sendEntries(t, device, name, batch)).body.serverRedacted, name).toBe(0);
      const stored = storedEntries(t, device, name);
      expect(stored.length, name).toBe(records.length);
      stored.forEach((row, i) => {
        expect(row.payload === records[i]?.trim(), `${name} record ${i}`).toBe(true);
      });
      kept += stored.length;
    }
    // The JSON-lines files have 1,989 lines; three of edge_cases are no objects. Those of gemini-cli are no JSON lines.
    expect(kept).toBe(1_986);
  });

  it("lose the secrets that slipped into them, and nothing else", async () => {
    const { t, device } = await startWithDevice();
    const other = await t.device();
    const compact = transcripts().filter(
      ({ transcript }) => /^(?:claude-code|codex)$/.test(transcript.agent) && transcript.steps.length > 20,
    );
    expect(compact.length).toBe(16);
    for (const { name, transcript, facts } of compact) {
      const own: Planted = { rule: "reckon-token", strength: "certain", text: other.token, secret: other.token };
      const secrets = [own, ...plants(name)];
      const entries = telemetryOf(transcript, facts);
      const expected = entries.map((entry) => JSON.stringify(entry.payload));
      secrets.forEach((secret, i) => {
        const at = Math.floor((entries.length * (i + 1)) / (secrets.length + 2));
        const entry = entries[at] as TelemetryEntry;
        entries[at] = { ...entry, payload: { ...entry.payload, record: putInto(entry.payload.record, secret.text) } };
        expected[at] = JSON.stringify({ ...entry.payload, record: putInto(entry.payload.record, redacted(secret)) });
      });
      const answer = await sendEntries(
        t,
        device,
        name,
        entries.map((entry) => JSON.stringify(entry)),
      );
      expect(answer.body, name).toMatchObject({
        accepted: entries.length,
        flagged: null,
        serverRedacted: secrets.length,
      });
      storedEntries(t, device, name).forEach((row, i) => {
        expect(row.payload === expected[i], `${name} record ${i}`).toBe(true);
      });
      for (const { secret, rule } of secrets) {
        expect(diskHolds(t.directory, secret) || diskHolds(t.directory, escaped(secret)), rule).toBe(false);
        expect(t.log.join("\n")).not.toContain(secret);
      }
    }
  });
});

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Puts a text into the middle of a record of compact JSON, where the only spaces are within strings. */
function putInto(record: string, text: string): string {
  const middle = record.indexOf(" ", Math.floor(record.length / 2));
  const at = middle === -1 ? record.indexOf(" ") : middle;
  // A record without any space gets the text behind it, as a tool's output may follow on the line.
  return at === -1 ? `${record} ${escaped(text)}` : `${record.slice(0, at)} ${escaped(text)}${record.slice(at)}`;
}

function sendSessions(
  t: TestInstance,
  device: TestDevice,
  repoKey: string,
  sessions: readonly object[],
  labels: readonly object[] = [],
) {
  return t.post("/api/agent-traces/ingest", { token: device.token, json: { repoKey, sessions, labels } });
}

/** A session and its spans as they are stored, without what tells deliveries apart. */
function storedSession(t: TestInstance, device: TestDevice, id: string) {
  const [session] = t.rows("SELECT * FROM trace_sessions WHERE device_id = ? AND external_id = ?", device.deviceId, id);
  const spans = t.rows(
    `SELECT external_id AS id, parent_id AS parentId, name, kind, started_at AS startedAt, ended_at AS endedAt, document
     FROM trace_spans WHERE session_id = ? ORDER BY external_id`,
    session.id,
  );
  const { repo_key: repoKey, outcome, agent, model, branch, started_at: startedAt, ended_at: endedAt } = session;
  return { repoKey, outcome, agent, model, branch, startedAt, endedAt, document: JSON.parse(session.document), spans };
}

const instant = (at: string | undefined) => (at === undefined ? null : Date.parse(at));

/** What is to be stored of a session, written down from what was sent. */
function expectedSession(repoKey: string, session: TraceSession) {
  const { spans, ...rest } = session;
  return {
    repoKey,
    outcome: session.outcome,
    agent: session.agent,
    model: session.model ?? null,
    branch: session.branch ?? null,
    startedAt: instant(session.startedAt),
    endedAt: instant(session.endedAt),
    document: JSON.parse(JSON.stringify(rest)),
    spans: spans
      .map((span) => ({
        id: span.id,
        parentId: span.parentId ?? null,
        name: span.name,
        kind: span.kind,
        startedAt: instant(span.startedAt),
        endedAt: instant(span.endedAt),
        document: JSON.stringify(span),
      }))
      .sort((a, b) => (Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) < 0 ? -1 : 1)),
  };
}

describeReal("transcripts of real agents, sent as traces", () => {
  it("are stored with every span, and again changes nothing", async () => {
    const { t, device } = await startWithDevice();
    for (const { name, repoKey, transcript, facts } of transcripts()) {
      const session = sessionOf(transcript, facts);
      const answer = await sendSessions(t, device, repoKey, [session]);
      const { spans } = counted(name);
      expect(answer.body, name).toEqual({ ok: true, sessions: 1, spans, labels: 0, serverRedacted: 0 });
      const stored = storedSession(t, device, session.id);
      expect(stored, name).toEqual(expectedSession(repoKey, session));
      const before = t.count("deliveries");
      expect((await sendSessions(t, device, repoKey, [session])).body).toEqual(answer.body);
      expect(t.count("deliveries"), name).toBe(before);
      expect(storedSession(t, device, session.id)).toEqual(stored);
    }
    expect(t.count("trace_sessions")).toBe(Object.keys(COUNTED).length);
  });

  it("end up the same whether a session is sent whole or as it grew", async () => {
    const { t, team } = await startWithTeam();
    const [whole, growing] = [await t.device(team), await t.device(team)];
    for (const { name, repoKey, transcript, facts } of transcripts()) {
      const session = sessionOf(transcript, facts);
      await sendSessions(t, whole, repoKey, [session]);
      const early = sessionOf(firstSteps(transcript, Math.floor(transcript.steps.length / 2)));
      const known = new Map(early.spans.map((span) => [span.id, JSON.stringify(span)]));
      const changed = Object.entries(session).filter(
        ([member, value]) => JSON.stringify(value) !== JSON.stringify(early[member as keyof TraceSession]),
      );
      const rest = {
        ...Object.fromEntries(changed),
        id: session.id,
        outcome: session.outcome,
        spans: session.spans.filter((span) => known.get(span.id) !== JSON.stringify(span)),
      };
      expect((await sendSessions(t, growing, repoKey, [early])).status).toBe(200);
      expect((await sendSessions(t, growing, repoKey, [rest])).status).toBe(200);
      expect(storedSession(t, growing, session.id), name).toEqual(storedSession(t, whole, session.id));
    }
  });

  it("lose the secrets that slipped into prompts and tool calls, and nothing else", async () => {
    const { t, device } = await startWithDevice();
    const { repoKey, transcript, facts } = transcripts().find(({ name }) =>
      name.includes("00ef13bd"),
    ) as RealTranscript;
    const session = sessionOf(transcript, facts);
    const [inPrompt, inSpan] = plants("traces").slice(2, 4) as [Planted, Planted];
    const withTexts = (prompt: string, output: string): TraceSession => ({
      ...session,
      prompts: session.prompts.map((each, i) => (i === 2 ? { ...each, text: `${each.text}\n${prompt}` } : each)),
      spans: session.spans.map((span, i) =>
        i === 20 ? { ...span, attributes: { ...span.attributes, output } } : span,
      ),
    });
    const answer = await sendSessions(t, device, repoKey, [withTexts(inPrompt.text, `$ env\n${inSpan.text}`)]);
    expect(answer.body.serverRedacted).toBe(2);
    const clean = withTexts(redacted(inPrompt), `$ env\n${redacted(inSpan)}`);
    expect(storedSession(t, device, session.id)).toEqual(expectedSession(repoKey, clean));
    expect(diskHolds(t.directory, escaped(inPrompt.secret)) || diskHolds(t.directory, inSpan.secret)).toBe(false);
  });
});

describeReal("the ledger over real deliveries", () => {
  it("proves that all of them are unaltered, and tells which was altered by one character", async () => {
    const { t, device } = await startWithDevice();
    for (const [repoKey, stream] of streams())
      for (const batch of batches(stream.map((entry) => JSON.stringify(entry))))
        await sendEntries(t, device, repoKey, batch);
    for (const repoKey of ["entireio/cli", "ryoppippi/ccusage"]) {
      const files = (brains().get(repoKey) ?? []).map(({ path, content }) => ({ path, content }));
      for (const version of [1, 2]) {
        const json = { repoKey, version, files: files.slice(version) };
        expect((await t.post("/api/brain/ingest", { token: device.token, json })).status).toBe(200);
      }
    }
    for (const { repoKey, transcript, facts } of transcripts())
      await sendSessions(t, device, repoKey, [sessionOf(transcript, facts)]);
    const verify = () => verifyLedger(t.instance.core, undefined, () => undefined);
    expect(verify()).toMatchObject({ deliveries: t.count("deliveries"), faults: [] });
    const { db } = t.instance.core.store;
    const [entry] = t.rows("SELECT id, delivery_id FROM telemetry_entries WHERE seq = 30 ORDER BY id LIMIT 1");
    alterEntries(db, `UPDATE telemetry_entries SET payload = payload || ' ' WHERE id = ${entry.id}`);
    expect(verify().faults).toMatchObject([{ deliveryId: entry.delivery_id, kind: "telemetry", problem: "content" }]);
  });
});

/** Counted with jq: traces, spans. */
const OTLP: Record<string, readonly [traces: number, spans: number]> = {
  "otel/copilot-chat-otel/traces.otlp.json": [8, 24],
  "otel/otlp-json-examples/trace.json": [1, 1],
};

/** Counted with jq: observations, scores. */
const LANGFUSE: Record<string, readonly [spans: number, labels: number]> = {
  "otel/langfuse-framework-traces/claude-agent-2025-12-22.trace.json": [7, 3],
  "otel/langfuse-framework-traces/google-adk-2025-08-28.trace.json": [5, 2],
  "otel/langfuse-framework-traces/microsoft-agent-2025-12-17.trace.json": [4, 3],
  "otel/langfuse-framework-traces/openai-agents-2025-09-30.trace.json": [5, 2],
  "otel/langfuse-framework-traces/pydantic-ai-2025-06-06.trace.json": [3, 0],
  "otel/langfuse-framework-traces/pydantic-ai-tools-2025-12-04.trace.json": [12, 0],
  "otel/langfuse-framework-traces/vercel-aisdk-2025-11-17.trace.json": [3, 2],
};

describeReal("OpenTelemetry traces of real agents", () => {
  it("all have their row in the hand-counted tables, but logs, metrics and events, which are no spans", () => {
    const noSpans = ["events", "logs", "metrics"].map((name) => `otel/otlp-json-examples/${name}.json`);
    expect(listData("otel")).toEqual([...Object.keys(OTLP), ...Object.keys(LANGFUSE), ...noSpans].sort());
  });

  it.each(Object.keys(OTLP))("of %s become sessions whose spans keep parent, time and attributes", async (path) => {
    const { t, device } = await startWithDevice();
    const [traces, spans] = OTLP[path] ?? [0, 0];
    const sessions = readOtlp(readData(path));
    const answer = await sendSessions(t, device, "demo", sessions);
    expect(answer.body).toEqual({ ok: true, sessions: traces, spans, labels: 0, serverRedacted: 0 });
    const sources = new Map(otlpSpans(readData(path)).map((span) => [asText(span.spanId), span]));
    const rows = t.rows("SELECT external_id, parent_id, name, kind, started_at, ended_at, document FROM trace_spans");
    expect(rows.length).toBe(spans);
    for (const row of rows) {
      const source = asObject(sources.get(row.external_id));
      const milliseconds = (nanoseconds: unknown) => Math.round(Number(BigInt(String(nanoseconds)) / 1_000n) / 1_000);
      expect(row).toMatchObject({
        parent_id: asText(source.parentSpanId) ?? null,
        name: source.name,
        kind: source.kind === 2 ? "server" : "internal",
        started_at: milliseconds(source.startTimeUnixNano),
        ended_at: milliseconds(source.endTimeUnixNano),
      });
      const attributes = JSON.parse(row.document).attributes;
      expect(Object.keys(attributes).length).toBe((source.attributes as unknown[]).length);
    }
  });

  it.each(Object.keys(OTLP))("of %s are kept as they are, wire names and all, and a retry finds them", async (path) => {
    const { t, device } = await startWithDevice();
    const spans = otlpSpans(readData(path));
    const json = { sessions: [{ id: "as-sent", outcome: "completed", spans }] };
    for (let i = 0; i < 2; i++) {
      const answer = await t.post("/api/agent-traces/ingest", { token: device.token, json });
      expect(answer.body).toMatchObject({ sessions: 1, spans: OTLP[path]?.[1], serverRedacted: 0 });
    }
    const stored = t.rows("SELECT document FROM trace_spans ORDER BY id").map((row) => row.document);
    expect(stored).toEqual(spans.map((span) => JSON.stringify(span)));
    expect(t.count("deliveries")).toBe(1);
  });

  it.each(Object.keys(LANGFUSE))("of %s keep their tree, and their scores as labels", async (path) => {
    const { t, device } = await startWithDevice();
    const [spans, labels] = LANGFUSE[path] ?? [0, 0];
    const read = readLangfuse(readData(path));
    const answer = await sendSessions(t, device, "demo", [read.session], read.labels);
    expect(answer.body).toEqual({ ok: true, sessions: 1, spans, labels, serverRedacted: 0 });
    expect(storedSession(t, device, read.session.id)).toEqual(expectedSession("demo", read.session));
    expect(t.rows("SELECT session_id, name FROM trace_labels ORDER BY id")).toEqual(
      read.labels.map(({ name }) => ({ session_id: read.session.id, name })),
    );
    await sendSessions(t, device, "demo", [read.session], read.labels);
    expect([t.count("trace_spans"), t.count("trace_labels"), t.count("deliveries")]).toEqual([spans, labels, 1]);
  });
});
