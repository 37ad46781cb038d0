/** When the certificates of a configuration are to be renewed, and when they expire. Keys of `identity` have no such time. */

import { certificatesOf } from '../../seats-admin/model/pem-text.ts'
import { firstDue, renewalOf, validityOf } from './pem.ts'

export interface CertificateEnd {
  /** `listen[0].tls.client_ca`, `upstreams.main.tls.cert`. */
  readonly setting: string
  /** ms since the epoch: from when on a warning is due. */
  readonly renewal: number
  /** ms since the epoch */
  readonly expiry: number
}

/** The PEM texts of a listener, and of an upstream. */
interface Listener {
  readonly tls: {
    readonly certificates: readonly { readonly cert: string }[]
    readonly clientCa: string | null
  } | null
}
interface Upstream {
  readonly name: string
  readonly tls: { readonly ca: string | null; readonly cert: string | null } | null
}

/** One for each file: of the certificate in it that is due first. @param now ms since the epoch */
export function certificateEnds(
  listen: readonly Listener[],
  upstreams: ReadonlyMap<string, Upstream>,
  now: number,
): readonly CertificateEnd[] {
  const found: CertificateEnd[] = []
  const add = (setting: string, pem: string | null | undefined, areAuthorities = false) => {
    const all = pem === null || pem === undefined ? [] : certificatesOf(pem).map(validityOf)
    const validity = firstDue(all, areAuthorities, now)
    if (validity !== null) found.push({ setting, renewal: renewalOf(validity), expiry: validity.until })
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
  return found
}
