/**
 * The times of renewal and expiry of the certificates of a configuration. The keys of `identity` do not
 * expire.
 */

import { certificatesOf } from '../../seats-admin/model/pem-text.ts'
import { firstDue, renewalOf, validityOf } from './pem.ts'

interface CertificateEnd {
  /** The name of the setting, such as `listen[0].tls.client_ca` or `upstreams.main.tls.cert`. */
  readonly setting: string
  /** The time after which a warning is due, in ms since the epoch. */
  readonly renewal: number
  /** The time in ms since the epoch. */
  readonly expiry: number
}

/** The PEM texts of a listener. */
interface Listener {
  readonly tls: {
    readonly certificates: readonly { readonly cert: string }[]
    readonly clientCa: string | null
  } | null
}
/** The PEM texts of an upstream. */
interface Upstream {
  readonly name: string
  readonly tls: { readonly ca: string | null; readonly cert: string | null } | null
}

/**
 * The ends of the certificates that must be renewed first, one for each file.
 *
 * @param now ms since the epoch
 */
export function certificateEnds(
  listen: readonly Listener[],
  upstreams: ReadonlyMap<string, Upstream>,
  now: number,
): readonly CertificateEnd[] {
  const ends: CertificateEnd[] = []
  const add = (setting: string, pem: string | null | undefined, areAuthorities = false) => {
    const all = pem === null || pem === undefined ? [] : certificatesOf(pem).map(validityOf)
    const validity = firstDue(all, areAuthorities, now)
    if (validity !== null) ends.push({ setting, renewal: renewalOf(validity), expiry: validity.until })
  }
  for (const [at, { tls }] of listen.entries()) {
    for (const [index, { cert }] of (tls?.certificates ?? []).entries())
      add(`listen[${at}].tls.certificates[${index}].cert`, cert)
    add(`listen[${at}].tls.client_ca`, tls?.clientCa, true)
  }
  for (const { name, tls } of upstreams.values()) {
    add(`upstreams.${name}.tls.ca`, tls?.ca, true)
    add(`upstreams.${name}.tls.cert`, tls?.cert)
  }
  return ends
}
