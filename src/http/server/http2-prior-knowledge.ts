/**
 * The refusal of a client that speaks HTTP/2 where the listener speaks HTTP/1.1 only. A response of HTTP/1.1 would be
 * noise to it, so it gets one of HTTP/2.
 */

import type { Refusal } from '../../model/errors.ts'
import { HTTP_1_1_REQUIRED } from '../wire/http2/http2-errors.ts'
import { DATA, END_HEADERS, END_STREAM, frame, HEADERS, SETTINGS } from '../wire/http2/http2-frames.ts'
import { HpackEncoder } from '../wire/http2/hpack-encoder.ts'
import { goAwayFrame } from '../wire/http2/http2-session.ts'
import { problemBody, streamProblemLines } from './problem.ts'

/** The first stream of a client. Its request is sent with the preface, and is not read. */
const FIRST_STREAM = 1

/** All that the connection sends: SETTINGS, the response to the first stream, GOAWAY. */
export function http2Problem(refusal: Refusal, requestId: string): Buffer {
  const body = Buffer.from(problemBody(refusal, requestId))
  const lines = streamProblemLines(refusal, requestId, body.length)
  return Buffer.concat([
    frame(SETTINGS, 0, 0, Buffer.alloc(0)),
    frame(HEADERS, END_HEADERS, FIRST_STREAM, blockOf(refusal.status, lines)),
    frame(DATA, END_STREAM, FIRST_STREAM, body),
    goAwayFrame(FIRST_STREAM, HTTP_1_1_REQUIRED),
  ])
}

function blockOf(status: number, lines: string): Buffer {
  const encoder = new HpackEncoder()
  encoder.begin()
  encoder.field(':status', String(status))
  encoder.lines(lines)
  return encoder.end()
}
