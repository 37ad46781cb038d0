/**
 * Prints what passed fleets of real gateways against what a limit of 1000/h with a burst of 1000 allows, for the manual:
 * `node test/fleet/rate-limit-table.ts`. Takes a minute or two, as ten gateways start.
 */

import t from 'tap'
import { metric } from '../support/operations.ts'
import { until } from '../support/until.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { LimitedLoad, RATE_LIMIT, READS } from './limited-load.ts'

t.setTimeout(600_000)
const rows: string[] = []

async function row(
  fleet: Fleet,
  seat: string,
  scenario: string,
  run: (load: LimitedLoad) => Promise<void>,
): Promise<void> {
  const load = await LimitedLoad.by(fleet, seat, `${scenario} ${fleet.gateways.length}`)
  await run(load)
  const allowed = READS.burst + load.added - 1
  rows.push(
    `| ${fleet.gateways.length} | ${scenario} | ${load.passed} | ${allowed.toFixed(1)} | ${((load.passed / allowed - 1) * 100).toFixed(1)} % |`,
  )
  load.close()
}

async function divided(fleet: Fleet, expected: number): Promise<void> {
  await until(
    async () => {
      const series = 'seatgate_rate_limits_divided'
      const values = await Promise.all(fleet.gateways.map((each) => metric(each, series)))
      return values.every((value) => value === expected)
    },
    () => 'the gateways do not see the state of Redis',
  )
}

async function spread(fleet: Fleet, load: LimitedLoad, requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) await load.ask(fleet.at(i % fleet.gateways.length))
}

for (const gateways of [1, 3, 10])
  await t.test(`${gateways} gateways`, { timeout: 600_000 }, async (t) => {
    const fleet = await startFleet(t, { gateways, rateLimit: RATE_LIMIT, proxies: [] })
    const { name: seat } = await fleet.makeSeat(fleet.first, 'Reader')
    const last = fleet.at(gateways - 1)
    await row(fleet, seat, 'uneven load', (load) => load.exhaust(fleet.gateways))
    if (gateways > 1) {
      await row(fleet, seat, 'one instance killed after 300 requests', async (load) => {
        await spread(fleet, load, 300)
        await last.kill()
        await load.exhaust(fleet.gateways.filter((each) => each !== last))
      })
      await last.start()
    }
    await row(fleet, seat, 'Redis killed after 300 requests, and back empty', async (load) => {
      await spread(fleet, load, 300)
      await fleet.redis.kill()
      await divided(fleet, gateways === 1 ? 0 : 1)
      await load.exhaust(fleet.gateways)
      await fleet.redis.restart({ empty: true })
      await divided(fleet, 0)
      await load.exhaust(fleet.gateways)
    })
  })

process.stdout.write(
  `\n| gateways | load | passed | allowed | difference |\n|---|---|---|---|---|\n${rows.join('\n')}\n`,
)
