/** What an HTTP/2 session tells its connection. */

import type { Http2Error } from './http2-errors.ts'
import type { ControlListener } from './control-frames.ts'
import type { ScarceWindow } from './sender.ts'
import type { Http2Stream, StreamReceiver } from './stream.ts'

export interface SessionOwner extends ControlListener {
  /**
   * A request has arrived at a server.
   *
   * @param fields name, value, … raw and in order
   * @param complete false if the list is over the limits, and cut
   * @returns the receiver of the further events, or null if the stream was reset or answered
   */
  streamOpened(
    stream: Http2Stream,
    fields: readonly string[],
    complete: boolean,
    endStream: boolean,
  ): StreamReceiver | null
  /** A stream has ended. */
  streamClosed(stream: Http2Stream): void
  /** A connection error: all streams fail next. */
  failing?(error: Http2Error): void
  /**
   * The share of a stream: see {@link SenderOwner}. Without this function, streams share the window equally.
   */
  shareOf?(stream: Http2Stream, window: ScarceWindow): number
  /** A connection error: GOAWAY is written, all streams have failed. The owner closes the connection. */
  failed(error: Http2Error): void
}
