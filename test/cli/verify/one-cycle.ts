/** One cycle of `seatgate verify` in the test's process, with as little time between its writes as a run leaves. */

import { performance } from 'node:perf_hooks'
import type { Test } from 'tap'
import { Gateway } from '../../../src/cli/remote/gateway-client.ts'
import { PlaceClient } from '../../../src/cli/verify/place-client.ts'
import { Pace, Writer } from '../../../src/cli/verify/change-writer.ts'
import { Cycle, type CycleParts, makeAnchor } from '../../../src/cli/verify/cycle.ts'
import type { CycleRequest } from '../../../src/cli/verify/cycle-request.ts'
import type { Credential } from '../../../src/cli/verify/expected-answers.ts'
import { OpenStreams } from '../../../src/cli/verify/open-streams.ts'
import { Subjects } from '../../../src/cli/verify/readers.ts'
import { RunRecord } from '../../../src/cli/verify/run-record.ts'
import { GatewayTime } from '../../../src/cli/verify/trial-tokens.ts'
import { type Gate, SPACE } from './gate.ts'

const HOUR = 3_600_000

/** @param streams addresses where the streams are opened @returns the record once the cycle is done */
export async function oneCycle(
  t: Test,
  { gateway, key }: Gate,
  streams: readonly string[],
): Promise<RunRecord> {
  const base = { key, ca: undefined, timeout: 60_000 }
  const at = (space: string) => new Gateway({ ...base, url: new URL(gateway.origin), space })
  const [manage, admin] = [at('admin'), at('admin')]
  const asked = streams.map(
    (url) => new PlaceClient({ ...base, url: new URL(url), name: url, space: SPACE, connections: 1 }),
  )
  t.teardown(() => Promise.all([manage, admin, ...asked].map((each) => each.close())))
  const record = new RunRecord(streams, () => performance.now(), Date.now())
  const { signal } = new AbortController()
  const place = {
    name: streams[0] ?? '',
    send: <V>({ path, at: where, ...sent }: CycleRequest) =>
      (where === 'admin' ? admin : manage).send<V>(path, sent),
  }
  const subjects = new Subjects<Credential>()
  const writer = new Writer<CycleRequest>({ places: [place], subjects, record, pace: new Pace(0), signal })
  const parts: CycleParts = {
    writer,
    record,
    tokens: null,
    sessions: null,
    time: new GatewayTime(),
    space: SPACE,
    prefix: 'one-cycle-',
    anchor: 'one-cycle-anchor',
    until: () => new Date(Date.now() + HOUR).toISOString(),
    signal,
    entry: null,
    made: new Map(),
    optional: { streams: new OpenStreams(asked, record), blocks: false, revocations: false },
    revocation: { user: 'one-cycle-revoked', at: 0, users: new Set() },
  }
  await makeAnchor(parts)
  await new Cycle(parts, 1).run()
  return record
}
