/** The source of a response that is a stream of server-sent events (WHATWG HTML, section 9.2). */

/** The response. */
interface EventSink {
  /**
   * @param text whole events
   * @returns false: the client is slow; the source is `resumed` later
   */
  write(text: string): boolean
}

/** A stream in progress. */
export interface OpenEvents {
  /** The client has read what was written. */
  resumed(): void
  /** The response has ended, for whatever reason. */
  closed(): void
}

/** Begins to write. From its result on, no event is missed. Rejects when it can't begin. */
export type EventSource = (sink: EventSink) => Promise<OpenEvents>
