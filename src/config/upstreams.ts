/** `upstreams:`. Used by build.ts only. */

import { origin } from './addresses.ts'
import { Complaint, confidential, quote } from './complaint.ts'
import type { UpstreamConfig } from './config.ts'
import type { Section } from './section.ts'
import { durationWithin } from './units.ts'
import { refuseUnservedUpstreamSettings } from './unserved.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
const timeout = durationWithin('1ms', '24d')

export function buildUpstreams(root: Section): Map<string, UpstreamConfig> {
  const upstreams = new Map<string, UpstreamConfig>()
  const all = root.section('upstreams')
  for (const name of all.keys()) {
    if (!NAME.test(name))
      all.faultOfKey(name, `upstream ${quote(name)}: a name has letters, digits and . _ -, at most 63`)
    upstreams.set(name, buildUpstream(all.section(name), name))
  }
  return upstreams
}

function buildUpstream(section: Section, name: string): UpstreamConfig {
  refuseUnservedUpstreamSettings(section)
  return Object.freeze({
    name,
    targets: Object.freeze(section.texts('targets', confidential(distinctOrigin()))),
    connectTimeout: section.text('connect_timeout', timeout) ?? 3000,
    responseTimeout: section.text('response_timeout', timeout) ?? 30_000,
    passAuthorization: section.flag('pass_authorization'),
    passHost: section.flag('pass_host'),
    passOverrides: section.flag('pass_overrides'),
    allowSemicolons: section.flag('allow_semicolons'),
  })
}

function distinctOrigin(): (text: string) => URL | Complaint {
  const seen = new Set<string>()
  return (text) => {
    const url = origin(text)
    if (url instanceof Complaint) return url
    if (seen.has(url.origin)) return new Complaint('stands twice in this list')
    seen.add(url.origin)
    return url
  }
}
