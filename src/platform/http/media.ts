import { bytesField, varintField } from "../../kit/protobuf.ts";

/** The media type of Protocol Buffers, as OpenTelemetry's exporters name it. */
export const PROTOBUF = "application/x-protobuf";

/** Whether a `Content-Type` names Protocol Buffers. */
export const isProtobuf = (type: string | null): boolean =>
  type !== null && /^application\/(?:x-)?protobuf\s*(?:;|$)/i.test(type);

/** google.rpc.Status without details, as Protocol Buffers (google/rpc/status.proto). */
export const encodeStatus = ({ code, message }: { readonly code: number; readonly message: string }): Buffer =>
  Buffer.concat([varintField(1, code), bytesField(2, message)]);

/** Whether an `Accept-Encoding` takes gzip (RFC 9110 section 12.5.3): named, or by `*`, and not with a weight of 0. */
export function takesGzip(accepted: string | null): boolean {
  const codings = (accepted ?? "")
    .slice(0, 1_000)
    .split(",")
    .map((coding) => coding.trim().toLowerCase());
  const named =
    codings.find((coding) => /^(?:x-)?gzip\s*(?:;|$)/.test(coding)) ?? codings.find((coding) => coding.startsWith("*"));
  return named !== undefined && !/;\s*q=0(?:\.0{0,3})?$/.test(named);
}
