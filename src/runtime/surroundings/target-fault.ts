/** Why a target of an upstream can't be reached. */

import type { SettingSource, UpstreamConfig } from '../../config/config.ts'
import { codeOf, type Finding, settingOf } from './fault.ts'
import { networkFinding, otherNames, type ServerText } from './network-fault.ts'

interface About extends ServerText {
  /** The keys with the settings of TLS, and of the version of HTTP. */
  readonly tls: string
  readonly protocol: string
  readonly url: URL
}

export function targetFinding(
  url: URL,
  { name }: Pick<UpstreamConfig, 'name'>,
  source: SettingSource,
  cause: unknown,
): Finding {
  const about: About = {
    name: `the service ${name}`,
    at: url.origin,
    host: url.hostname,
    setting: settingOf(source),
    authorities: 'ca',
    tls: `upstreams.${name}.tls`,
    protocol: `upstreams.${name}.protocol`,
    url,
  }
  const code = codeOf(cause)
  return FINDINGS[code]?.(about, code, cause) ?? networkFinding(about, code, cause) ?? other(about, cause)
}

/** A health check that fails. */
export function healthFinding(
  url: URL,
  { name, health }: Pick<UpstreamConfig, 'name' | 'health'>,
  cause: Error,
): Finding {
  return {
    cause: `${url.origin} fails its health check, GET ${health?.path ?? '/'}: ${cause.message}`,
    advice: `See the log of the service ${name}, or correct upstreams.${name}.health`,
  }
}

type Describe = (about: About, code: string, cause: unknown) => Finding

const FINDINGS: Readonly<Record<string, Describe>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  EPROTO: noTls,
  UPSTREAM_NO_HTTP2: ({ at, protocol }) => ({
    cause: `${at} accepts connections, but does not speak HTTP/2`,
    advice: `Set ${protocol} to http1, or enable HTTP/2 in the service`,
  }),
  ERR_TLS_CERT_ALTNAME_INVALID: (about, code, cause) => ({
    cause: otherNames(about, code, cause),
    advice: `Name one of its names as ${about.tls}.server_name, or issue the certificate for ${about.host}`,
  }),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: ({ at, tls }) => ({
    cause: `${at} requires a client certificate, and none is given`,
    advice: `Name certificate and key as ${tls}.cert and ${tls}.key`,
  }),
}

function untrusted({ at, tls }: About, code: string): Finding {
  return {
    cause: `the certificate of ${at} is not from an authority that this gateway knows (${code})`,
    advice: `Name a file with the authority's certificate as ${tls}.ca`,
  }
}

function noTls({ at, url, setting }: About, code: string): Finding {
  return {
    cause: `${at} does not answer the TLS handshake (${code})`,
    advice: `Write http://${url.host} in ${setting} if this service speaks no TLS on that port, or name its TLS port`,
  }
}

function other({ at, name, setting }: About, cause: unknown): Finding {
  return {
    cause: `${at}: ${cause instanceof Error ? cause.message : String(cause)}`,
    advice: `See the log of ${name}, and check ${setting}`,
  }
}
