/** The settings that decide the public address. */
interface Addressed {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string | null;
}

/** The public address, without a trailing slash. Every absolute URL we emit begins with it, never with a Host header. */
export function baseUrlOf({ host, port, baseUrl }: Addressed): string {
  return baseUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
