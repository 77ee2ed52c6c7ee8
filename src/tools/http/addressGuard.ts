// Which addresses a step may connect to. Judged on the address that a name resolves to, at every connection: never our own
// listeners, our database and NATS, and never what gives credentials to whoever can reach it from this machine (link-local
// addresses, metadata services), unless the installation allows it.
import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { lookup as lookupAll } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'

export interface Endpoint {
  /** Name or address; `0.0.0.0` and `::` stand for every address of this machine. */
  readonly host: string
  readonly port: number
  /** For the message: "the database of this installation". */
  readonly what: string
}

export interface AddressGuardSettings {
  /** Asked at each connection: ports are known when the listeners are open. */
  readonly forbidden: () => readonly Endpoint[]
  /** Hosts, `host:port` or addresses that are allowed all the same. */
  readonly allowed: readonly string[]
  /** Refuse private networks as well. */
  readonly denyPrivate: boolean
}

export class AddressRefused extends Error {}

const METADATA = blockList([
  ['169.254.0.0', 16],
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
])
const PRIVATE = blockList([
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['0.0.0.0', 8],
  ['::1', 128],
  ['::', 128],
  ['fc00::', 7],
])
const LOOPBACK = blockList([
  ['127.0.0.0', 8],
  ['0.0.0.0', 32],
  ['::1', 128],
  ['::', 128],
])

export class AddressGuard {
  private readonly allowed: ReadonlySet<string>

  constructor(private readonly settings: AddressGuardSettings) {
    this.allowed = new Set(settings.allowed.map((item) => item.toLowerCase()))
  }

  /** For hosts that are addresses: these are connected to without a lookup. */
  async checkLiteral(hostname: string, port: number): Promise<void> {
    const address = hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(address) === 0) return
    const refusal = await this.refusalOf(hostname, address, port)
    if (refusal !== undefined) throw new AddressRefused(refusal)
  }

  /** A lookup for a connection to this port, which hands out permitted addresses only. */
  lookupFor(port: number): LookupFunction {
    return (hostname, options, callback) => {
      dnsLookup(hostname, { ...(options as LookupOptions), all: true }, (error, addresses) => {
        if (error !== null) return callback(error, '', 0)
        this.permitted(hostname, addresses, port).then(
          (permitted) => {
            const first = permitted[0] as LookupAddress
            if (options.all === true) (callback as (error: null, found: LookupAddress[]) => void)(null, permitted)
            else callback(null, first.address, first.family)
          },
          (refused: NodeJS.ErrnoException) => callback(refused, '', 0),
        )
      })
    }
  }

  private async permitted(hostname: string, addresses: LookupAddress[], port: number): Promise<LookupAddress[]> {
    const permitted: LookupAddress[] = []
    let refusal: string | undefined
    for (const found of addresses) {
      const why = await this.refusalOf(hostname, found.address, port)
      if (why === undefined) permitted.push(found)
      else refusal = why
    }
    if (permitted.length === 0) throw new AddressRefused(refusal ?? `${hostname} has no address`)
    return permitted
  }

  private async refusalOf(hostname: string, given: string, port: number): Promise<string | undefined> {
    const address = plain(given)
    const isAllowed = [hostname, given, address].some(
      (name) => this.allowed.has(name.toLowerCase()) || this.allowed.has(`${name.toLowerCase()}:${port}`),
    )
    if (isAllowed) return undefined
    const where = hostname === address ? address : `${hostname} (${address})`
    const allow = 'allow it with NOETL_CP_WORKER_HTTP_ALLOW'
    if (covers(METADATA, address)) return `${where} is a link-local or metadata address, which is refused; ${allow}`
    for (const endpoint of this.settings.forbidden()) {
      if (endpoint.port === port && (await isSameMachine(endpoint.host, address))) {
        return `${where}:${port} is ${endpoint.what}, which is refused; ${allow}`
      }
    }
    if (this.settings.denyPrivate && covers(PRIVATE, address)) {
      return `${where} is a private address, which NOETL_CP_WORKER_HTTP_DENY_PRIVATE refuses; ${allow}`
    }
    return undefined
  }
}

/** Whether the address leads to the host. All addresses of this machine are one. */
async function isSameMachine(host: string, address: string): Promise<boolean> {
  const addresses = (isIP(host) === 0 ? await addressesOf(host) : [host]).map(plain)
  if (addresses.includes(address)) return true
  return isOwn(address) && addresses.some(isOwn)
}

async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await lookupAll(host, { all: true })).map(({ address }) => address)
  } catch {
    // A name that has no address now cannot be what this address belongs to.
    return []
  }
}

function isOwn(address: string): boolean {
  if (covers(LOOPBACK, address)) return true
  return Object.values(networkInterfaces()).some((list) => list?.some((entry) => entry.address === address) ?? false)
}

/** One text for each address: an IPv6 one that stands for an IPv4 address (`::ffff:10.0.0.1`, `::ffff:a00:1`) is that. */
function plain(address: string): string {
  if (isIP(address) !== 6) return address
  // As addresses are written in URLs: shortest, with hexadecimal groups alone.
  const short = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short)
  if (groups === null) return short
  const [high, low] = [Number.parseInt(groups[1]!, 16), Number.parseInt(groups[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function covers(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

function blockList(subnets: readonly [string, number][]): BlockList {
  const list = new BlockList()
  for (const [net, prefix] of subnets) list.addSubnet(net, prefix, isIP(net) === 6 ? 'ipv6' : 'ipv4')
  return list
}
