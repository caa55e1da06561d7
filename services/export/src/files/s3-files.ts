import { Readable } from "node:stream";

import {
  DeleteObjectCommand,
  GetObjectCommand,
  S3Client,
  type S3ClientConfig,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";

import type { FileStore } from "./file-store.ts";

export type S3Options = {
  readonly bucket: string;
  readonly region: string;
  /** Of a store other than AWS. */
  readonly endpoint: string | undefined;
  /** Default: as the AWS SDK finds them, such as AWS_ACCESS_KEY_ID. */
  readonly credentials?: S3ClientConfig["credentials"];
};

/** Parts of 8 MiB, two at a time: 80 GiB at most, with 16 MiB of memory. */
const PART_BYTES = 8 << 20;
const PARTS_AT_ONCE = 2;

/** Objects of a bucket of an S3-compatible store. */
export function createS3Files({ bucket, region, endpoint, credentials }: S3Options): FileStore {
  const client = new S3Client({
    region,
    // Some stores send the checksum of the whole object with a part of it.
    responseChecksumValidation: "WHEN_REQUIRED",
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials !== undefined && { credentials }),
  });
  return {
    async write(key, content) {
      let size = 0;
      const counted = async function* counted(): AsyncIterable<Uint8Array> {
        for await (const chunk of content) {
          size += chunk.byteLength;
          yield chunk;
        }
      };
      // Parts become an object when all of them have arrived; after a failure they are deleted.
      const upload = new Upload({
        client,
        params: {
          Bucket: bucket,
          Key: key,
          Body: Readable.from(counted(), { objectMode: false }),
          ContentType: "text/csv; charset=utf-8",
        },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
      });
      await upload.done();
      return size;
    },
    async *read(key, { first, last }) {
      const { Body } = await client.send(
        new GetObjectCommand({ Bucket: bucket, Key: key, Range: `bytes=${first}-${last}` }),
      );
      if (Body === undefined) throw new Error(`the object ${key} is empty`);
      yield* Body as Readable;
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },
    // Incomplete uploads are no objects; a lifecycle rule of the bucket deletes them (docs/exports.md#files).
    removeAbandoned: () => Promise.resolve(),
  };
}
