/** Reading records that are written down in a test. */
import type { AgentFormat, TranscriptEvent } from "../../../../src/formats/agents/transcript.ts";

/** The events of records, given as objects, or as text where they are none. */
export function eventsOf(format: AgentFormat, records: readonly unknown[], path = ""): TranscriptEvent[] {
  const reader = format.open({ path });
  return records.flatMap((record) => reader.read(typeof record === "string" ? record : JSON.stringify(record)));
}

/** Those of one type, without the members that most tests do not ask about. */
export function ofType<T extends TranscriptEvent["type"]>(
  events: readonly TranscriptEvent[],
  type: T,
): Extract<TranscriptEvent, { type: T }>[] {
  return events.filter((event): event is Extract<TranscriptEvent, { type: T }> => event.type === type);
}
