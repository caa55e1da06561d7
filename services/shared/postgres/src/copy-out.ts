import type { Socket } from "node:net";
import { Readable } from "node:stream";

import type { Connection, Submittable } from "pg";

type Code = { readonly [Name in "copyData" | "copyDone" | "error"]: number };
const CODE: Code = { copyData: 0x64, copyDone: 0x63, error: 0x45 };

/** The code and the length of a message. */
const HEADER_BYTES = 5;
const CODE_BYTES = 1;

type Listener = (chunk: Buffer) => void;

/**
 * The text of a `copy … to stdout`, for `client.query`. Each row is a message of the protocol; its payload is moved within
 * the buffer that the socket read, because millions of buffers, one per row, would occupy the garbage collector.
 */
export class CopyOut extends Readable implements Submittable {
  readonly #text: string;
  #socket: Socket | undefined;
  /** Parses messages for the client. */
  #ofClient: Listener | undefined;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  /** Bytes of the current message that have not been read. */
  #rest = 0;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  submit(connection: Connection): void {
    const socket = connection.stream as Socket;
    const [ofClient, ...others] = socket.listeners("data") as Listener[];
    if (ofClient === undefined || others.length > 0) {
      throw new Error("the client is not the only reader of its connection");
    }
    this.#socket = socket;
    this.#ofClient = ofClient;
    socket.off("data", ofClient);
    socket.on("data", this.#onData);
    connection.query(this.#text);
  }

  override _read(): void {
    this.#socket?.resume();
  }

  readonly #onData: Listener = (chunk) => {
    const { payloadBytes, end } = this.#parse(chunk);
    const takesMore = payloadBytes === 0 || this.push(chunk.subarray(0, payloadBytes));
    if (end !== undefined)
      this.#handBack(
        Buffer.concat([this.#header.subarray(0, this.#headerBytes), chunk.subarray(end)]),
      );
    else if (!takesMore) this.#socket?.pause();
  };

  /** Moves the rows to the start of the chunk. `end` is where messages begin that concern the client. */
  #parse(chunk: Buffer): { readonly payloadBytes: number; readonly end?: number } {
    let payloadBytes = 0;
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerBytes < HEADER_BYTES) {
        const copied = chunk.copy(this.#header, this.#headerBytes, at);
        this.#headerBytes += copied;
        at += copied;
        if (this.#headerBytes < HEADER_BYTES) break;
        // The length includes itself.
        this.#rest = this.#header.readUInt32BE(CODE_BYTES) - (HEADER_BYTES - CODE_BYTES);
      }
      const code = this.#header[0];
      if (code === CODE.copyDone || code === CODE.error) return { payloadBytes, end: at };
      const next = Math.min(at + this.#rest, chunk.length);
      // Others are notices and parameters, which the reader of rows does not need.
      if (code === CODE.copyData) {
        chunk.copyWithin(payloadBytes, at, next);
        payloadBytes += next - at;
      }
      this.#rest -= next - at;
      at = next;
      if (this.#rest === 0) this.#headerBytes = 0;
    }
    return { payloadBytes };
  }

  /** The client parses what follows: the error, or the end of the query. */
  #handBack(messages: Buffer): void {
    const [socket, ofClient] = [this.#socket, this.#ofClient];
    this.#socket = undefined;
    if (socket === undefined || ofClient === undefined) return;
    socket.off("data", this.#onData);
    socket.on("data", ofClient);
    socket.resume();
    ofClient(messages);
  }

  handleError(error: Error): void {
    this.destroy(error);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.push(null);
  }
}
