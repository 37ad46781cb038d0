/** Builds `listen:`: one address, or a list of listeners with TLS or without. */

import { resolve } from 'node:path'
import { address, addressesConflict } from './addresses.ts'
import type { ListenerConfig, SettingSource } from './config.ts'
import { buildListenerTls } from './listener-tls.ts'
import type { Section } from './section.ts'

/** @param folder base of relative paths @returns those without a fault; the default when `listen` is absent */
export function buildListeners(root: Section, folder: string): readonly ListenerConfig[] {
  if (!Array.isArray(root.value('listen')))
    return Object.freeze([Object.freeze({ ...root.setting('listen', address), tls: null, http2: false })])
  const built: ListenerConfig[] = []
  for (const { section } of root.sections('listen')) {
    const listener = buildListener(section, folder)
    if (listener === null) continue
    if (built.some((each) => addressesConflict(each, listener)))
      section.fault('address', 'address: two listeners cannot share an address and port: choose another port')
    built.push(listener)
  }
  return Object.freeze(built)
}

function buildListener(section: Section, folder: string): ListenerConfig | null {
  const at = section.text('address', address)
  const tls = buildListenerTls(section, folder)
  const http2 = section.flag('http2')
  if (http2 && !section.has('tls'))
    section.fault('http2', 'http2: needs tls, as HTTP/2 is negotiated by ALPN: add tls, or remove http2')
  return at === undefined ? null : Object.freeze({ ...at, tls, http2 })
}

/** Where the addresses of the listeners are written. */
export function sourcesOfListeners(root: Section): readonly SettingSource[] {
  if (!Array.isArray(root.value('listen'))) return Object.freeze([root.source('listen')])
  const sections = root.sections('listen').filter(({ section }) => section.has('address'))
  return Object.freeze(sections.map(({ section }, at) => section.source('address', `listen[${at}].address`)))
}

/** Absolute paths of all PEM files of listeners, whether they are faulty or not: for watching. */
export function listenerFiles(root: Section, folder: string): string[] {
  const of = root.sections('listen').map(({ section }) => section.section('tls'))
  const pairs = of.flatMap((tls) => tls.sections('certificates').map(({ section }) => section))
  const named = [
    ...pairs.flatMap((section) => [section.value('cert'), section.value('key')]),
    ...of.map((tls) => tls.value('client_ca')),
  ]
  return named.filter((path) => typeof path === 'string').map((path) => resolve(folder, path))
}
