import { type Core, slot } from "../../core.ts";

/** Bodies that can be prepared at the same time while there is time left for everything else. */
const FEW = 4;

const taking = slot(() => ({ bodies: 0 }));

/** Prepares a body, in a thread or here, and counts it meanwhile. */
export async function takingIn<T>(core: Core, work: () => Promise<T>): Promise<T> {
  const state = taking(core);
  state.bodies++;
  try {
    return await work();
  } finally {
    state.bodies--;
  }
}

/** Whether so many bodies are being prepared that any other work keeps them waiting. */
export const isCrowded = (core: Core): boolean => taking(core).bodies > FEW;
