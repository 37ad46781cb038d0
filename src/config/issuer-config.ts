/** What the configuration says of an issuer whose tokens are accepted. */

/** An issuer of tokens that the gateway verifies by the issuer's public keys, without sign-in and without a secret. */
export interface IssuerConfig {
  /** The claim `iss`, compared as text. */
  readonly issuer: string
  /** What `aud` is, or holds where it is a list. */
  readonly audience: string
  /** Null: as the issuer's discovery document says. */
  readonly jwksUri: string | null
  /** Of signatures (RFC 7518, section 3.1): asymmetric ones only. */
  readonly algorithms: readonly string[]
  /** Names of Seats that each token holds; null: `seatsClaim` names them. */
  readonly seats: readonly string[] | null
  /** A claim's name, or a path through objects; null: `seats` names them. */
  readonly seatsClaim: string | null
  /** All of them must be true of a token. */
  readonly match: readonly ClaimMatch[]
  /** Like `seatsClaim`: the claim that identifies the user at the issuer. */
  readonly userClaim: string
  /** ms from `iat` to `exp` of a token, at most. */
  readonly maxLifetime: number
  /** Plain http, to loopback addresses only. */
  readonly allowInsecure: boolean
}

export interface ClaimMatch {
  /** A claim's name, or a path through objects. */
  readonly name: string
  /** What the claim is, or holds where it is a list. */
  readonly value: string | boolean
}
