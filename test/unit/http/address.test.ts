import { expect, it } from "vitest";
import { proxyRanges } from "../../../src/config.ts";
import { blocksOf, quotaKey } from "../../../src/kit/address.ts";
import { clientAddress } from "../../../src/platform/http/request.ts";

const trusted = proxyRanges(["10.0.0.0/8", "fd00::/8"]);

it.each([
  ["an untrusted peer's claim is ignored", "198.51.100.7", "1.2.3.4", "198.51.100.7"],
  ["a trusted proxy's is believed", "10.0.0.1", "1.2.3.4", "1.2.3.4"],
  ["the rightmost untrusted hop wins", "10.0.0.1", "6.6.6.6, 1.2.3.4, 10.9.9.9", "1.2.3.4"],
  ["a chain of trusted hops ends at its first", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["rubbish ends the chain", "10.0.0.1", "1.2.3.4, unknown", "10.0.0.1"],
  ["ports and brackets are read", "10.0.0.1", "[2001:db8::1]:443", "2001:db8::1"],
  ["an IPv4 port is read", "10.0.0.1", "1.2.3.4:5678", "1.2.3.4"],
  ["a mapped IPv4 peer is its IPv4 address", "::ffff:10.0.0.1", "1.2.3.4", "1.2.3.4"],
  ["an IPv6 proxy can be trusted", "fd00::1", "1.2.3.4", "1.2.3.4"],
  ["no header means the peer", "10.0.0.1", null, "10.0.0.1"],
])("%s", (_, peer, forwarded, client) => {
  expect(clientAddress(peer, forwarded, trusted)).toBe(client);
});

it("counts IPv6 by its /64 network, however it is spelled, and IPv4 whole", () => {
  expect(quotaKey("2001:db8:0:1::1")).toBe(quotaKey("2001:0db8:0000:0001:ffff:ffff:ffff:ffff"));
  expect(quotaKey("2001:db8::1")).toBe(quotaKey("2001:DB8:0:0:9::"));
  expect(quotaKey("2001:db8:0:1::1")).not.toBe(quotaKey("2001:db8:0:2::1"));
  expect(quotaKey("fe80::1%eth0")).toBe(quotaKey("fe80::2"));
  expect(quotaKey("192.0.2.1")).not.toBe(quotaKey("192.0.2.2"));
});

it("groups the networks of a site, and the sites of a provider, as one stranger each", () => {
  expect(blocksOf("2001:db8:7:1::1")).toEqual(blocksOf("2001:0db8:0007:ffff::9"));
  expect(blocksOf("2001:db8:7::1").site).not.toBe(blocksOf("2001:db8:8::1").site);
  expect(blocksOf("2001:db8:7::1").provider).toBe(blocksOf("2001:db8:8::1").provider);
  expect(blocksOf("2001:db9::1").provider).not.toBe(blocksOf("2001:db8::1").provider);
  expect(blocksOf("192.0.2.1")).toEqual({ provider: "192.0", site: "192.0.2.1" });
});
