/** A commit as the contract has it; `Ab` and `ab` are two. */
export const COMMIT = /^[0-9a-fA-F]{4,64}$/;
