/** Why a target of an upstream can't be reached. */

import type { SettingSource, UpstreamConfig } from '../../config/config.ts'
import { codeOf, type Finding, settingOf } from './fault.ts'
import { findingTable } from './finding-table.ts'
import { networkFinding, OTHER_NAMES, serverValues, UNTRUSTED } from './network-fault.ts'

const findings = findingTable({
  'ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_PACKET_LENGTH_TOO_LONG EPROTO': [
    '{at} does not answer the TLS handshake ({code})',
    'Write http://{authority} in {setting} if this service speaks no TLS on that port, or name its TLS port',
  ],
  UPSTREAM_NO_HTTP2: [
    '{at} accepts connections, but does not speak HTTP/2',
    'Set {upstream}.protocol to http1, or enable HTTP/2 in the service',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    OTHER_NAMES,
    'Name one of its names as {upstream}.tls.server_name, or issue the certificate for {host}',
  ],
  [UNTRUSTED]: [
    'the certificate of {at} is not from an authority that this gateway knows ({code})',
    "Name a file with the authority's certificate as {upstream}.tls.ca",
  ],
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: [
    '{at} requires a client certificate, and none is given',
    'Name certificate and key as {upstream}.tls.cert and {upstream}.tls.key',
  ],
})

export function targetFinding(
  url: URL,
  { name }: Pick<UpstreamConfig, 'name'>,
  source: SettingSource,
  cause: unknown,
): Finding {
  const setting = settingOf(source)
  const { origin: at, hostname: host, host: authority } = url
  const server = { name: `the service ${name}`, at, host, setting, authorities: 'ca' }
  const code = codeOf(cause)
  const values = { ...serverValues(server, code, cause), authority, upstream: `upstreams.${name}` }
  return (
    findings(code, values) ??
    networkFinding(server, code, cause) ?? {
      cause: `${at}: ${cause instanceof Error ? cause.message : String(cause)}`,
      advice: `See the log of ${server.name}, and check ${setting}`,
    }
  )
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
