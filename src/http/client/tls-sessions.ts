/**
 * TLS sessions with targets, for resumption. Resumption skips the check of the certificate (CVE-2026-48934,
 * CVE-2026-58040, CVE-2026-56850), so a session is kept only after a handshake that checked it, is offered
 * only under the settings and to the name of that handshake, and its certificate is checked again both when
 * it is offered and when it is resumed.
 *
 * The sessions belong to the options object of an upstream, which a reload replaces: a reload forgets them
 * all.
 */

import type { X509Certificate } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { checkServerIdentity, type TLSSocket } from 'node:tls'

/** Milliseconds in which a session is resumed: after them, a replaced certificate is seen. */
const MAX_AGE = 5 * 60 * 1000
/** Sessions of an upstream: one of each target, the oldest goes first. */
const MAX_SESSIONS = 256

interface Session {
  readonly bytes: Buffer
  readonly certificate: X509Certificate
  /** Monotonic ms of the full handshake. */
  readonly since: number
}

const all = new WeakMap<object, Map<string, Session>>()

/** The sessions with one name at one address, for one connection. */
export class TargetSessions {
  readonly #sessions: Map<string, Session>
  readonly #key: string
  readonly #name: string
  readonly #shown: (certificate: X509Certificate) => void
  #offered: Session | null = null

  /**
   * @param options of the upstream: the sessions belong to this object
   * @param name the host name or IP address that the certificate must have
   * @param shown receives the certificate of a full handshake, which is valid
   */
  constructor(
    options: object,
    host: string,
    port: number,
    name: string,
    shown: (certificate: X509Certificate) => void = () => {},
  ) {
    this.#shown = shown
    this.#sessions = all.get(options) ?? new Map<string, Session>()
    all.set(options, this.#sessions)
    this.#key = JSON.stringify([host, port, name])
    this.#name = name
  }

  /** @returns the session to offer; undefined without one that is still valid */
  offer(): Buffer | undefined {
    const session = this.#sessions.get(this.#key)
    if (session === undefined) return undefined
    if (performance.now() - session.since < MAX_AGE && this.#isValid(session.certificate)) {
      this.#offered = session
      return session.bytes
    }
    this.#sessions.delete(this.#key)
    return undefined
  }

  /** Checks a resumed session and keeps new ones. To be called before other listeners are added. */
  watch(socket: TLSSocket): void {
    let checked: Omit<Session, 'bytes'> | null = null
    socket.once('secureConnect', () => {
      checked = this.#check(socket)
      if (checked === null) socket.destroy(new ResumptionRefused())
    })
    socket.on('session', (bytes) => {
      if (checked !== null) this.#keep({ ...checked, bytes })
    })
    // The target may have refused the session: the next attempt is a full handshake.
    socket.once('close', () => {
      if (checked === null) this.#sessions.delete(this.#key)
    })
  }

  /** @returns null where a resumed session is not, or no longer, authorized for the target */
  #check(socket: TLSSocket): Omit<Session, 'bytes'> | null {
    const certificate = socket.getPeerX509Certificate()
    if (!socket.authorized) return null
    if (!socket.isSessionReused()) {
      if (certificate === undefined) return null
      this.#shown(certificate)
      return { certificate, since: performance.now() }
    }
    // After a resumption, Node.js does not report the certificate: the session has it.
    const offered = this.#offered
    return offered !== null && this.#isValid(offered.certificate) ? offered : null
  }

  #keep(session: Session): void {
    this.#sessions.delete(this.#key)
    this.#sessions.set(this.#key, session)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest)
  }

  #isValid(certificate: X509Certificate): boolean {
    const now = Date.now()
    if (now > Date.parse(certificate.validTo) || now < Date.parse(certificate.validFrom)) return false
    return checkServerIdentity(this.#name, certificate.toLegacyObject()) === undefined
  }
}

/** The target resumed a session that is not, or no longer, authorized. */
class ResumptionRefused extends Error {
  readonly code = 'TLS_RESUMPTION_REFUSED'

  constructor() {
    super('the certificate of the resumed TLS session is not valid for this target')
  }
}
