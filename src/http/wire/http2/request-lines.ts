/** The regular fields of a request of HTTP/2 as lines of HTTP/1.1: one Host, one Cookie. */

import { isSameAuthority } from '../../../model/host.ts'
import type { FieldTable } from '../field-table.ts'
import { malformed, type MalformedRequest } from '../malformed-request.ts'
import { checkField, fieldsOf } from './field-list.ts'

/** Its methods throw a MalformedRequest. */
export class RequestLines {
  #text = ''
  #count = 0
  #host: string | null
  /** Host has been seen beside `:authority`, or alone. */
  #hasHost = false
  #cookies: string | null = null
  /** With a Content-Length. */
  hasLength = false

  /** @param authority of `:authority`; null without it */
  constructor(authority: string | null) {
    this.#host = authority
    if (authority !== null) this.#add('host', authority)
  }

  add(name: string, value: string): void {
    if (name === 'host') this.#addHost(value)
    // In HTTP/1.1 the pieces of a cookie are one field (RFC 9113, section 8.2.3).
    else if (name === 'cookie') this.#addCookie(value)
    else {
      if (name === 'content-length') this.hasLength = true
      this.#add(name, value)
    }
  }

  parsed(): FieldTable {
    if (this.#cookies !== null) this.#add('cookie', this.#cookies)
    return fieldsOf(this.#text, this.#count, requestFault)
  }

  /**
   * Beside `:authority` it is one field too many for HTTP/1.1. Where both name the same authority, as for an absolute target of
   * HTTP/1.1, `:authority` is kept (RFC 9113, section 8.3.1).
   */
  #addHost(value: string): void {
    if (this.#hasHost) throw requestFault('Host is repeated')
    this.#hasHost = true
    if (this.#host === null) this.#add('host', value)
    else if (!isSameAuthority(this.#host, value)) throw requestFault('Host differs from the authority')
  }

  /** Joined in their order. An empty piece has no cookie, and would begin or end the joined value with a separator. */
  #addCookie(value: string): void {
    checkField('cookie', value, requestFault)
    if (this.#cookies === null || this.#cookies === '') this.#cookies = value
    else if (value !== '') this.#cookies += `; ${value}`
  }

  #add(name: string, value: string): void {
    checkField(name, value, requestFault)
    this.#text += `${name}: ${value}\r\n`
    this.#count++
  }
}

/** @param what a clause without a full stop, free of received bytes */
export function requestFault(what: string): MalformedRequest {
  return malformed(`The request is not valid HTTP/2: ${what}.`)
}
