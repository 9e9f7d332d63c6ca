import { type Core, slot } from "../../core.ts";

/** As many bodies are made ready at the same time where there is time for all that is to be done. */
const FEW = 4;

const taking = slot(() => ({ bodies: 0 }));

/** Makes a body ready, in a thread or here. */
export async function takingIn<T>(core: Core, work: () => Promise<T>): Promise<T> {
  const state = taking(core);
  state.bodies++;
  try {
    return await work();
  } finally {
    state.bodies--;
  }
}

/** Whether so many bodies are being made ready that whatever else is done keeps them waiting. */
export const isCrowded = (core: Core): boolean => taking(core).bodies > FEW;
