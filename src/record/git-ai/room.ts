import { room } from "../../platform/rooms/rooms.ts";
import { notesRead } from "./read.ts";
import { notesUpload, received } from "./upload.ts";

export const gitAi = room({
  name: "git-ai",
  tags: { "Git AI": "Notes of commits, by the contract of Git AI's notes backend." },
  endpoints: [notesUpload, notesRead],
  metrics: [received],
});
