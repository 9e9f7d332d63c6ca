import { type Capture, readSetting, writeSetting } from "../state.ts";

const SETTING = "written";

/** The files outside this program's own folder that it wrote to, absolute: what may be taken out of them again. */
export const readWritten = (capture: Capture): readonly string[] => readSetting<string[]>(capture, SETTING) ?? [];

export const writeWritten = (capture: Capture, paths: Iterable<string>): void =>
  writeSetting(capture, SETTING, [...paths].toSorted());
