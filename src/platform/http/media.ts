import { bytesField, varintField } from "../../kit/protobuf.ts";

/** The media type of Protocol Buffers, as OpenTelemetry's exporters name it. */
export const PROTOBUF = "application/x-protobuf";

/** Whether a `Content-Type` names Protocol Buffers. */
export const isProtobuf = (type: string | null): boolean =>
  type !== null && /^application\/(?:x-)?protobuf\s*(?:;|$)/i.test(type);

/** google.rpc.Status without details, as Protocol Buffers (google/rpc/status.proto). */
export const encodeStatus = ({ code, message }: { readonly code: number; readonly message: string }): Buffer =>
  Buffer.concat([varintField(1, code), bytesField(2, message)]);
