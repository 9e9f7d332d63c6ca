import { MINUTE_MS } from "./clock.ts";
import { type LakePlace, lakePlace } from "./lake-place.ts";
import { setting } from "./setting.ts";
import { origin, span, text } from "./setting-values.ts";

/** Where the record goes as Parquet, and with which credentials. */
export const LAKE_SETTINGS = {
  lake: setting<LakePlace | null>({
    env: "RECKON_LAKE",
    fallback: null,
    shown: "none",
    description: "where the record goes as Parquet: a directory, or s3://BUCKET/PREFIX",
    read: lakePlace,
  }),
  lakeEvery: setting<number>({
    env: "RECKON_LAKE_EVERY",
    fallback: MINUTE_MS,
    shown: "1m",
    description: "how often what was sealed or changed goes there, e.g. 5m",
    read: span,
  }),
  lakeEndpoint: setting<string | null>({
    env: "RECKON_LAKE_ENDPOINT",
    fallback: null,
    shown: "https://s3.REGION.amazonaws.com",
    description: "the S3 service; its host must be in RECKON_OUTBOUND",
    read: origin,
  }),
  lakeRegion: setting<string>({
    env: "RECKON_LAKE_REGION",
    fallback: "us-east-1",
    description: "its region",
    read: text,
  }),
  lakeAccessKeyId: setting<string | null>({
    env: "RECKON_LAKE_ACCESS_KEY_ID",
    fallback: null,
    shown: "none",
    description: "the access key that requests to it are signed with",
    read: text,
  }),
  lakeSecretAccessKey: setting<string | null>({
    env: "RECKON_LAKE_SECRET_ACCESS_KEY",
    fallback: null,
    secret: true,
    shown: "none",
    description: "the secret of that key",
    read: text,
  }),
} as const;
