/** Why an identity provider can't be used. */

import type { SettingSource } from '../../config/config.ts'
import { ProxyError } from '../../oidc/provider/provider-errors.ts'
import { codeOf, type Finding, settingOf } from './fault.ts'
import { findingTable } from './finding-table.ts'
import { networkFinding, serverValues, UNTRUSTED } from './network-fault.ts'

const findings = findingTable({
  [UNTRUSTED]: [
    'the certificate of {at} is not from an authority that Node.js knows ({code})',
    "Name a file with the authority's certificate in the environment, as {authorities}",
  ],
})

/** The codes of undici, and of AbortSignal.timeout, for a provider that does not respond in time. */
const LATE = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'TimeoutError',
])

/** @param issuer valid: it was checked when the configuration was loaded */
export function providerFinding(issuer: string, source: SettingSource, cause: Error): Finding {
  if (cause instanceof ProxyError)
    return {
      cause: cause.message,
      advice: `Correct the environment variable ${cause.variable}, or the proxy; where the gateway reaches the provider without it, name the host in NO_PROXY`,
    }
  const setting = settingOf(source)
  const { host: authority, hostname: host } = new URL(issuer)
  const at = `the provider at ${authority}`
  const server = { name: 'the provider', at, host, setting, authorities: 'NODE_EXTRA_CA_CERTS' }
  const code = codeOf(cause)
  return (
    findings(code, serverValues(server, code, cause)) ??
    networkFinding(server, LATE.has(code) ? 'TIMEOUT' : code, cause) ?? {
      cause: `${at}: ${cause.message}`,
      advice: `Correct it at the provider, or correct ${setting}`,
    }
  )
}

/** @param ahead ms that the provider's clock is ahead */
export function clockFinding(issuer: string, ahead: number): Finding {
  const seconds = Math.round(Math.abs(ahead) / 1000)
  return {
    cause: `the clock of the provider at ${new URL(issuer).host} is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} the clock of this machine, so that tokens may be refused`,
    advice: 'Set the clock of this machine ("timedatectl set-ntp true"), or that of the provider',
  }
}
