import type { Duplex } from "node:stream";

import { type ErrorKey, ApiError, errorToProto } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";

import { encodeError, JSON_TYPE } from "./error-response.ts";

/**
 * Responds to invalid HTTP, slow requests and oversized headers, then closes the connection:
 * the bytes that follow cannot be parsed.
 */
export function respondToInvalidHttp(error: NodeJS.ErrnoException, socket: Duplex): number {
  const broken = errorOf(error.code);
  if (error.code === "ECONNRESET") socket.destroy();
  else endWith(socket, broken);
  return broken.status;
}

/** Rejects CONNECT and closes the connection, because what follows is meant for another server. */
export function rejectConnect(socket: Duplex): number {
  // There is no other listener on the socket, and an unhandled reset would end the process.
  socket.on("error", () => socket.destroy());
  endWith(socket, CONNECT);
  // The server's timeouts do not apply to this socket.
  setTimeout(() => socket.destroy(), CONNECT_CLOSE_MS).unref();
  return CONNECT.status;
}

function endWith(socket: Duplex, { status, reason, key }: SocketError): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const id = newRequestId();
  const error = new ApiError(key.key, { details: key.details });
  const message = { ...errorToProto(error, id), code: status };
  const body = encodeError(message);
  socket.end(
    [
      `HTTP/1.1 ${status} ${reason}`,
      `X-Request-Id: ${id}`,
      "X-Content-Type-Options: nosniff",
      "Cache-Control: no-store",
      `Content-Type: ${JSON_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

type SocketError = {
  readonly status: number;
  readonly reason: string;
  readonly key: { readonly key: ErrorKey; readonly details?: string };
};

const CONNECT_CLOSE_MS = 1_000;
const CONNECT: SocketError = {
  status: 405,
  reason: "Method Not Allowed",
  key: { key: "method_not_allowed", details: "CONNECT is not supported" },
};

function errorOf(code: string | undefined): SocketError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        reason: "Request Header Fields Too Large",
        key: { key: "payload_too_large", details: "The headers are too large" },
      };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, reason: "Request Timeout", key: { key: "request_timeout" } };
    default:
      return {
        status: 400,
        reason: "Bad Request",
        key: { key: "invalid_payload", details: "The request is not valid HTTP" },
      };
  }
}
