/**
 * `seatgate revoke --from`: makes revocations again that a restored store has lost, from their receipts. The
 * receipts are verified before anything is written.
 */

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AppliedReceipt,
  isRefusal,
  type RevocationReceipt,
  type Store,
} from '../../../seats-admin/index.ts'
import { EVERY_PERMISSION } from '../../../seats-admin/model/permission.ts'
import { subjectText } from '../../../seats-admin/model/revocation.ts'
import { LEASE, MARGIN } from '../../coherence/lease.ts'
import type { Config } from '../../config/config.ts'
import { loadConfig } from '../../config/load.ts'
import { isReceiptFault, publicKeysOf, type ReceiptFault, verifyReceipt } from '../../identity/receipt.ts'
import { printable } from '../../telemetry/readable.ts'
import { CONFIG, JSON_OUTPUT } from '../arguments.ts'
import { CommandFailed, defineCommand, messageOf, tenantOf } from '../command.ts'
import { withStore } from '../existing-store.ts'
import { quoted } from '../near-names.ts'
import { keySetAt, readText } from '../receipt/key-set.ts'
import { revocationClaims } from '../receipt/receipt-claims.ts'
import { shortTime, tableLines } from '../remote/list-output.ts'
import { fold, plural } from '../screen.ts'

const UNVERIFIED = 3

export const revokeFrom = defineCommand({
  name: 'revoke',
  summary:
    'Makes revocations again from their receipts, in the store of the configuration: a store that was restored from a backup has lost those that are newer.',
  details:
    'Revocations that the store has are left as they are. Each keeps its time, so that what was issued later stays valid. If a receipt does not verify, nothing is written. Gateways may run, but a restored store should have its revocations before a gateway starts.',
  options: {
    from: {
      value: 'FILE',
      description: 'a receipt, or a folder with receipts and nothing else',
      required: true,
      multiple: true,
      completes: 'file',
    },
    jwks: {
      value: 'FILE',
      description: 'a key set with keys that identity in the configuration no longer has',
      completes: 'file',
    },
    config: CONFIG,
    json: JSON_OUTPUT,
  },
  exits: {
    0: 'the store has every revocation of the receipts',
    1: 'nothing was written: the configuration has faults or no identity, a file or the store cannot be read, or there is no receipt',
    3: 'nothing was written: a receipt does not verify, or is for another gateway or tenant',
  },
  example: 'seatgate revoke --from receipts/',
  run: async ({ values: { from, jwks, config: file, json } }, terminal) => {
    const config = await loadConfig(file, terminal.env)
    const read = await readReceipts(from, jwks, config).catch((cause: unknown) => {
      throw new CommandFailed(`nothing was written: ${messageOf(cause)}`)
    })
    const faults = read.filter(isFaulty)
    if (faults.length > 0) {
      for (const { path, fault } of faults) terminal.printError(printable(`${path}: ${fault}`))
      terminal.printError(`nothing was written: ${plural(faults.length, 'receipt')} cannot be applied`)
      return UNVERIFIED
    }
    const receipts = read.flatMap((each) => (isFaulty(each) ? [] : [each]))
    return withStore(config, terminal, async (store) => {
      const applied: Applied[] = []
      for (const [tenant, own] of Map.groupBy(receipts, (each) => each.tenant)) {
        const made = await apply(store, config, tenant, own).catch((cause: unknown) => {
          throw new CommandFailed(`${messageOf(cause)}${doneSoFar(applied)}`)
        })
        applied.push(...made.map((each) => ({ ...each, tenant })))
      }
      // A gateway may run on this store: after this time it has applied the changes (coherence/lease.ts).
      if (applied.some(({ isNew }) => isNew)) await sleep(LEASE + MARGIN)
      await terminal.print(
        json ? JSON.stringify({ data: applied.map(shown) }) : appliedText(applied, terminal.columns),
      )
      return 0
    })
  },
})

interface ReadReceipt {
  readonly tenant: string
  readonly receipt: RevocationReceipt
}

type FaultyFile = ReceiptFault & { readonly path: string }
type Applied = AppliedReceipt & { readonly tenant: string }

function isFaulty(read: ReadReceipt | FaultyFile): read is FaultyFile {
  return isReceiptFault(read)
}

/** The files, and the files in the folders. @throws CommandFailed */
async function filesOf(paths: readonly string[]): Promise<string[]> {
  const files: string[] = []
  for (const path of paths)
    try {
      if (!(await stat(path)).isDirectory()) files.push(path)
      else files.push(...(await readdir(path)).toSorted().map((name) => join(path, name)))
    } catch (cause) {
      throw new CommandFailed(`${path} cannot be read: ${messageOf(cause)}`)
    }
  if (files.length === 0) throw new CommandFailed(`there is no receipt in ${paths.join(', ')}`)
  return files
}

/** The key sets of the configuration and of the option, each as JSON. @throws CommandFailed */
async function keySetsOf({ file, identity }: Config, jwks: string | undefined): Promise<string[]> {
  if (identity === null) throw new CommandFailed(`${file} has no identity, whose keys sign receipts`)
  return [publicKeysOf(identity), ...(jwks === undefined ? [] : [await keySetAt(jwks)])]
}

/** @throws CommandFailed */
async function readReceipts(
  from: readonly string[],
  jwks: string | undefined,
  config: Config,
): Promise<(ReadReceipt | FaultyFile)[]> {
  const [files, keySets] = [await filesOf(from), await keySetsOf(config, jwks)]
  const read: (ReadReceipt | FaultyFile)[] = []
  for (const path of files) {
    const receipt = await receiptOf((await readText(path)).replace(/\r?\n$/, ''), keySets, config)
    read.push(isReceiptFault(receipt) ? { ...receipt, path } : receipt)
  }
  return read
}

async function receiptOf(
  text: string,
  keySets: readonly string[],
  { identity, tenants }: Config,
): Promise<ReadReceipt | ReceiptFault> {
  const results = await Promise.all(keySets.map((keySet) => verifyReceipt(text, keySet)))
  const verified = results.find((each) => !isReceiptFault(each)) ?? results[0]
  if (verified === undefined) throw new Error('there is no key set')
  if (isReceiptFault(verified)) return verified
  const claims = revocationClaims(verified.claims)
  if (isReceiptFault(claims)) return claims
  if (claims.iss !== identity?.issuer)
    return { fault: `it is of issuer ${claims.iss}, not of ${identity?.issuer}` }
  if (!tenants.has(claims.tenant)) return { fault: `it is of tenant ${claims.tenant}, which is unknown` }
  const { iss: _iss, tenant: _tenant, audit: _audit, ...answer } = verified.claims
  const { id, at, subject, what, origin, until, reason, api_keys: apiKeys = false, kept = [] } = claims
  return {
    tenant: claims.tenant,
    receipt: {
      id,
      at: Date.parse(at),
      subject,
      what,
      ...(origin === undefined ? {} : { origin }),
      until: until === undefined ? null : Date.parse(until),
      reason,
      apiKeys,
      keptKey: kept[0]?.api_key ?? null,
      answer: JSON.stringify({ ...answer, receipt: text }),
    },
  }
}

/** Applies the receipts of a tenant in one transaction. @throws CommandFailed */
async function apply(
  store: Store,
  config: Config,
  tenant: string,
  read: readonly ReadReceipt[],
): Promise<readonly AppliedReceipt[]> {
  const { adminSpace: space } = tenantOf(config, tenant)
  const scope = { space, admin: true, all: true, permissions: [EVERY_PERMISSION] }
  const writer = { tenant, by: 'revoke', scope, now: Date.now() }
  const written = await store.applyReceipts(
    writer,
    read.map(({ receipt }) => receipt),
  )
  if (isRefusal(written)) throw new CommandFailed(written.detail)
  return written.value
}

/** Each tenant has a transaction of its own. */
function doneSoFar(applied: readonly Applied[]): string {
  if (applied.length === 0) return '. Nothing was written'
  const tenants = [...new Set(applied.map(({ tenant }) => tenant))].join(', ')
  return `. The receipts of ${tenants} are applied, those of other tenants are not: run the command again`
}

function shown({ tenant, id, at, subject, isNew, ended, blocked }: Applied) {
  return {
    tenant,
    id,
    at: new Date(at).toISOString(),
    subject,
    applied: isNew,
    ended: { sessions: ended.sessions, api_keys: ended.apiKeys },
    blocked,
  }
}

const COLUMNS = [
  { name: 'voids up to', width: 20, of: ({ at }: Applied) => shortTime(new Date(at).toISOString()) },
  { name: 'tenant', width: 6, of: ({ tenant }: Applied) => tenant },
  { name: 'subject', width: 20, of: ({ subject }: Applied) => subjectText(subject) },
  { name: 'sessions', width: 8, of: ({ ended }: Applied) => String(ended.sessions) },
  { name: 'API keys', width: 8, of: ({ ended }: Applied) => String(ended.apiKeys) },
]

function appliedText(applied: readonly Applied[], room: number): string {
  const news = applied.filter(({ isNew }) => isNew)
  const blocked = news.flatMap(({ tenant, blocked: user }) =>
    user === null
      ? []
      : fold(
          printable(
            `user ${quoted(user)} of ${tenant} is blocked again: "seatgate users unblock" lifts the block`,
          ),
        ),
  )
  return [
    ...(news.length === 0 ? [] : [...tableLines(COLUMNS, room)(news), '']),
    ...blocked,
    `${plural(news.length, 'revocation')} made again, ${applied.length - news.length} that the store has`,
  ].join('\n')
}
