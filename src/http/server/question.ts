/** Another proxy asks whether it may forward the request of an exchange. It forwards it itself. */

import type { UpstreamConfig } from '../../config/config.ts'
import type { Refusal } from '../../model/errors.ts'
import { type Exchange, Slot } from './exchange.ts'

export interface Question {
  /** The dialect, for the log. */
  readonly askedBy: string
  /** The address of the client, as the asking proxy names it; null if it names none. */
  readonly client: string | null
  /** The reason why no request can be read from the question; null if one can. */
  readonly fault: Refusal | null
  /** The proxy wants the refusal that it has been told of already. */
  readonly refusesOnly: boolean
  /** Name, value, … of a redirect to sign-in, for a browser that loads a page; empty for any other client. */
  signIn: readonly string[]
  /**
   * Answers that the request may be forwarded. Throws if the head can't be sent.
   *
   * @param upstream the upstream of the route; null if it has none
   * @param signed name and value of the signed identity, '' where the request has none; empty: identity is
   *   not signed
   */
  allow(exchange: Exchange, upstream: UpstreamConfig | null, signed: readonly string[]): void
  /** Answers that it must not. Throws if the head can't be sent. */
  refuse(exchange: Exchange, refusal: Refusal): void
}

/** Empty for a request that the gateway forwards or serves itself. Owner: `Pipeline.ask`. */
export const externalQuestion = new Slot<Question>()
