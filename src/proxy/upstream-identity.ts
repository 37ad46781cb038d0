/** Signed identity for one upstream, whose name is the audience of its JWTs. */

import type { FieldLines } from '../http/wire/field-lines.ts'
import type { Identified, SignedIdentity } from '../identity/signed-identity.ts'
import type { HeaderRules } from './header-rules.ts'
import { rulesWithout, type Treatment } from './request-header-rules.ts'

export class UpstreamIdentity {
  /** The header rules with which no client's own header of the name passes. */
  readonly rules: HeaderRules<Treatment>
  readonly #signed: SignedIdentity
  readonly #audience: string

  constructor(signed: SignedIdentity, audience: string) {
    this.rules = rulesWithout(signed.header)
    this.#signed = signed
    this.#audience = audience
  }

  /** The line for a decision; null on a public route. */
  lineFor(decision: Identified): FieldLines | null {
    return this.#signed.lineFor(this.#audience, decision)
  }
}
