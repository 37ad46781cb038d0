/** What a flood of a caller that has used up its limit costs Redis: one command a slice of what passes, as docs/rate-limits.md says. */

import t from 'tap'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'
import { LimitedLoad } from './limited-load.ts'

/** A slice is 1 % of it. */
const LIMIT = 1800
const CLIENTS = 20
/** Requests that pass and are counted, after those of the burst. */
const COUNTED = 300

for (const workers of [1, 2])
  t.test(`two gateways with ${workers} workers`, async (t) => {
    const fleet = await startFleet(t, {
      gateways: 2,
      workers,
      proxies: [],
      rateLimit: `{ limit: ${LIMIT}/m, burst: ${LIMIT / 10} }`,
    })
    const reader = await fleet.makeSeat(fleet.first, 'Reader')
    const loads = await Promise.all(
      Array.from({ length: CLIENTS }, () => LimitedLoad.by(fleet, reader.name, 'alice')),
    )
    t.teardown(() => loads.forEach((load) => load.close()))
    const passed = () => loads.reduce((sum, load) => sum + load.passed, 0)
    let ended = false
    const flooding = loads.map(async (load, at) => {
      while (!ended) await load.ask(fleet.at(at % 2))
    })
    const exchanges = async () => {
      const { cmdstat_evalsha: evalsha = '' } = await fleet.redis.info('commandstats')
      return Number(/calls=(\d+)/.exec(evalsha)?.[1] ?? 0)
    }
    const reaches = (count: number) =>
      until(
        () => passed() >= count,
        () => `${passed()} of ${count} pass`,
      )
    await reaches(LIMIT / 10 + (LIMIT / 100) * 6)
    const before = { passed: passed(), commands: await exchanges() }
    await reaches(before.passed + COUNTED)
    const commands = (await exchanges()) - before.commands
    const counted = passed() - before.passed
    ended = true
    await Promise.all(flooding)
    t.comment(`${commands} commands for ${counted} requests`)
    const each = (commands / counted) * LIMIT
    // On a machine that stands still, borrowed tokens go back unused: up to 245, for 105 on the page. Without batches there are 2,160.
    t.ok(each <= LIMIT / 3, `${Math.round(each)} commands for ${LIMIT} requests that pass`)
  })
