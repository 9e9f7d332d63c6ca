import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to whoever does not name one (32768 and above on Linux, 49152 elsewhere). */
const [FIRST, LAST] = [10_240, 32_767];

/** A port of this machine that nobody listens on, and that nobody is given by chance before it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") continue;
      throw error;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
