import { subject } from "./row.js";

const PAYS = "moves money or signs for it";
const KEYS = "prints the keys to money";
const READS = /^(?:--?help|-h|--version|--dry-run|--simulate|--generate-only)$/;

/** Wallets, chains and banks. What is paid does not come back. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("money", [
  { rule: "money.paid", reason: PAYS, dry: "dry-run", tools: [
    { program: "solana", taking: "u url k keypair C config commitment fee-payer from", path: "transfer|pay|withdraw-stake|deactivate-stake|split-stake|delegate-stake|withdraw-from-vote-account|withdraw-from-nonce-account|close-vote-account|stake-authorize|vote-authorize-voter|authorize-nonce-account",
      match: ["solana transfer 9xQe 120 --allow-unfunded-recipient"], not_match: ["solana balance", "solana config get"] },
    { program: "solana", taking: "u url k keypair", path: "program close|set-upgrade-authority|extend", match: ["solana program close 9xQe"], not_match: ["solana program show 9xQe"] },
    { program: "spl-token", path: "transfer|burn|mint|authorize|close|approve|revoke|freeze|thaw|withdraw-withheld-tokens", match: ["spl-token transfer X 10 Y"], not_match: ["spl-token accounts"] },
    { program: "bitcoin-cli|litecoin-cli|dogecoin-cli|dash-cli|zcash-cli|bitcoin-cash-cli|namecoin-cli|elements-cli|particl-cli|ravencoin-cli|digibyte-cli|bch-cli|btcctl|dcrctl|groestlcoin-cli",
      path: "sendtoaddress|sendmany|sendrawtransaction|send|sendall|sendfrom|walletpassphrase|walletpassphrasechange|z_sendmany|z_shieldcoinbase|bumpfee|signrawtransactionwithwallet|signrawtransaction|abandontransaction|psbtbumpfee|move",
      match: ["bitcoin-cli sendtoaddress bc1q 1.5", "bitcoin-cli -rpcwallet=x send '{}'"], not_match: ["bitcoin-cli getblockchaininfo"] },
    { program: "bitcoin-cli|litecoin-cli|dogecoin-cli|zcash-cli|electrum", path: "dumpprivkey|dumpwallet|z_exportkey|z_exportwallet|getprivatekeys|getseed|listdescriptors|backupwallet", rule: "credentials.wallet", reason: KEYS, match: ["bitcoin-cli dumpwallet w.txt"], not_match: ["bitcoin-cli listwallets"] },
    { program: "cast", taking: "r rpc-url private-key from account keystore", path: "send|publish|mktx", match: ["cast publish 0x02", "cast send 0xabc 'transfer(address,uint256)' 0xdef 1"], not_match: ["cast balance 0xabc"] },
    { program: "geth|clef|erigon|besu", word: /\b(?:sendTransaction|sendRawTransaction|personal\.unlock|personal_unlockAccount|miner\.start|exportRawKey)\b/, match: ["geth attach --exec 'eth.sendTransaction({})'"], not_match: ["geth attach --exec eth.blockNumber"] },
    { program: "lncli|lightning-cli|eclair-cli|phoenix-cli|tapcli|loop|lnbits-cli", path: "sendpayment|payinvoice|sendcoins|sendmany|sendtoroute|closechannel|closeallchannels|abandonchannel|openchannel|pay|xpay|keysend|withdraw|fundchannel|multifundchannel|close|txprepare|txsend|sendpay|sendonion|out|bakemacaroon|exportchanbackup|dev-forget-channel|payoffer|sendtoaddress",
      match: ["lncli payinvoice lnbc1", "lightning-cli withdraw bc1q all"], not_match: ["lncli getinfo", "lightning-cli listfunds"] },
    { program: "electrum|electron-cash|wasabi|sparrow-cli|bdk-cli|gdk", path: "payto|paytomany|sweep|broadcast|signtransaction|lnpay|close_channel|bumpfee", match: ["electrum payto bc1q 0.5"], not_match: ["electrum getbalance"] },
    { program: "monero-wallet-cli|monero-wallet-rpc|feather", word: /\b(?:transfer|sweep_all|sweep_below|sweep_single|donate|seed|spendkey)\b/, match: ["monero-wallet-cli --wallet-file w --command transfer 4Abc 1"], not_match: ["monero-wallet-cli --version"] },
    { program: "gaiad|osmosisd|junod|evmosd|secretd|terrad|regen|akash|celestia-appd|injectived|dydxprotocold|simd|wasmd|stargazed|kujirad|seid|axelard", path: "tx *", match: ["gaiad tx bank send me you 9uatom"], not_match: ["gaiad query bank balances me"] },
    { program: "near|near-cli|eosio|cleos|aptos|sui|starkli|sncast|flow|goal|tezos-client|octez-client|cardano-cli|stellar|soroban|xrpl-cli|rippled|polkadot-js-api|subxt|ton-cli|toncli|hedera|algokey|iota|nanocli|snarkos|aleo|leo|fuel|forc-wallet|dfx|icx|quill|kaspa-cli|ergo|clio|arkade|hsd-cli|hsw-cli|multiversx|mxpy|tronbox",
      path: "** send|transfer|send-near|send-money|pay|pay-sui|pay-all-sui|transfer-sui|invoke|submit|push|clerk|ledger-transfer|delegate-stake|withdraw|cycles-transfer|top-up|payment|sell|delete-account|delete",
      match: ["near send a.near b.near 10", "sui client pay-sui --amounts 9", "cardano-cli transaction submit --tx-file a", "dfx ledger transfer x"], not_match: ["near state a.near", "sui client gas"] },
    { program: "paypal|wise|monzo|bunq|revolut|mercury|coinbase|coinbase-cli|kraken-cli|krakenx|binance-cli|bitfinex|ccxt|freqtrade|alpaca|ib_insync|robinhood|tda|zerion|gnucash-cli|aqbanking-cli|hbci|fints|ofx",
      path: "** send|transfer|pay|payout|payouts|order|buy|sell|withdraw|sepatransfer|sepatransfers|trade|market|limit|place-order|add-order|cancel-order|createorder|forceexit|forcesell|forcebuy|forceenter", unless: READS,
      match: ["coinbase send --to x --amount 1", "aqbanking-cli sepatransfer --name=x", "kraken-cli add-order x"], not_match: ["kraken-cli balance"] },
    { program: "bitcoin-tx|ethkey|clef|gpg-wallet|keystore-cli|hdwallet|btcrecover|seedrecover.py|ian-coleman", path: "** sign|sign-tx|inspect|reveal", match: ["ethkey inspect key.json"], not_match: ["ethkey --help"] },
  ] },
]);
