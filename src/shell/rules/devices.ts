import { isElsewhere } from "./addresses.js";
import { type Condition, subject } from "./row.js";

const MOVES = "sets values in devices and machines that other people rely on";
const POWER = "switches other machines or devices on or off";
const FLASHES = "writes new software into a device";

const aims: Condition = ({ args }) =>
  args.find(({ text }) => isElsewhere(text.replace(/^--?[\w-]+=/, "")) || /\.internal$/.test(text));

/** A request that switches something, to a bare number of the network around: lamps, relays, printers. */
const writesToDevice: Condition = ({ args }) => {
  const writes = args.some(({ text }) =>
    /^(?:-X|--request=|--method=)?(?:POST|PUT|PATCH|DELETE)$/.test(text),
  );
  const word = args.find(({ text }) =>
    /^(?:http:\/\/)?(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254)(?:\.\d{1,3}){1,3}(?:[:/]|$)/.test(
      text,
    ),
  );
  return writes && word !== undefined && SWITCHES.test(word.text) ? word : undefined;
};
const SWITCHES =
  /\/(?:relay|state|lights?|rpc|cm|cgi-bin|api\/services|setup|goform|switch|plug|valve|door|lock|power|reboot|reset|control|command|cmd|color|shelly|ISAPI|onvif|printer|octoprint)\b|[?&](?:turn|cmnd|cmd|power|state|action)=/i;

/** Things in the field: switches, valves, lamps, cars, boards, power supplies. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("devices", [
  { rule: "devices.set", reason: MOVES, dry: "", tools: [
    { program: "snmpset|snmptrap|snmpinform|snmpusm|snmpvacm", unless: /^(?:--?help|-h|-V|-H)$/, match: ["snmpset -v2c -c private 10.0.0.1 1.3.6 i 2"], not_match: ["snmpset -h"] },
    { program: "mosquitto_pub|mqttx|mqtt|hivemq-mqtt|mqtt-cli|paho_c_pub|rumqtt", taking: "h host t topic p port m message u P i", when: aims, match: ["mosquitto_pub -h broker.internal -t plant/valve -m OPEN"],
      not_match: ["mosquitto_pub -h localhost -t test -m hi", "mosquitto_pub -t test -m hi"] },
    { program: "modpoll|mbpoll|mbtget|modbus-cli|modbus|mbw", when: ({ args }) => args.find(({ text }) => /^(?:write\w*|-w\w*|-W|--)$/.test(text)) ?? (args.length > 3 && args.slice(-2).every(({ text }) => /^\d+$/.test(text)) ? args.at(-1) : undefined),
      match: ["mbpoll -a 1 -r 100 10.0.0.9 1 0", "modbus write 10.0.0.9 %M1 1"], not_match: ["mbpoll -a 1 -r 100 -c 4 10.0.0.9", "modbus read 10.0.0.9 %M1 4"] },
    { program: "coap-client|coap|aiocoap-client|libcoap-client", word: /^(?:put|post|delete|patch)$/i, match: ["coap-client -m put coap://10.0.0.9/lamp -e 1"], not_match: ["coap-client -m get coap://10.0.0.9/lamp"] },
    { program: "cansend|cangen|canplayer|isotpsend|cannelloni|caringcaribou|uds|slcand", unless: /^(?:--?help|-h|-\?)$/, match: ["cansend can0 123#DEAD"], not_match: ["cansend --help"] },
    { program: "bacwp|bacrd-write|bacepics-write|uawrite|uacall|opcua-write|groupswrite|knxtool|eibwrite|s7-write|snap7-write|dnp3-control|iec104-control|ethercat|plcscan|pymodbus.console|ethipcmd", unless: /^(?:--?help|-h|on|read|groupread|groupsocketlisten|vbusmonitor\d?|slaves|state)$/,
      match: ["uawrite -u opc.tcp://10.0.0.9:4840 -n ns=2 1", "knxtool groupswrite ip:10.0.0.1 1/2/3 1"], not_match: ["ethercat slaves"] },
    { program: "hass-cli|kasa|tuyacli|tuya-cli|hue|hueadm|chip-tool|zwave-js|lifx|govee|wemo|tplink-smarthome-api|shelly|tasmotizer|homebridge|bulb|yeelight|nanoleaf|ewelink|sonoff|miiocli", path: "** on|off|set|call|toggle|onoff|write|open|close|unlock|lock|reboot|reset",
      match: ["kasa --host 10.0.0.9 off", "hass-cli service call lock.unlock"], not_match: ["kasa discover", "hass-cli state list"] },
    { program: "gpioset|raspi-gpio|pinctrl|i2cset|spi-config|devmem|devmem2|setpci|wrmsr|flashrom|uhubctl|usbreset|usb_modeswitch|hub-ctrl|sispmctl|relayctl|usbrelay|crelay|digiusb", unless: /^(?:--?help|-h|-v|get|--version|-L|--list-supported)$/, word: /./,
      match: ["gpioset gpiochip0 17=1", "i2cset -y 1 0x40 0 0xff", "uhubctl -a off"], not_match: ["raspi-gpio get", "flashrom --version"] },
    { program: "nvme|smartctl", path: "set-feature|fw-download|fw-commit|reset|subsystem-reset", rule: "devices.flash", reason: FLASHES, match: ["nvme fw-commit /dev/nvme0"], not_match: ["nvme list", "smartctl -a /dev/sda"] },
  ] },
  { program: "curl|http|https|xh|httpie|wget", dry: "", when: writesToDevice, rule: "devices.set", reason: MOVES, match: ["curl -X PUT http://192.168.1.2/api/k/lights/1/state -d '{}'", "curl -X POST 'http://192.168.1.20/relay/0?turn=off'"],
    not_match: ["curl http://192.168.1.20/status", "curl -X POST http://127.0.0.1:3000/state", "curl -X POST http://192.168.1.9:3000/api/users -d '{}'"] },
  { program: "esptool|esptool.py|st-flash|nrfjprog|pyocd|jlink|jlinkexe|stm32_programmer_cli|dfu-programmer|heimdall", dry: "", word: /^(?:erase\w*|--?eraseall|--recover|mass_erase|--chip-erase)$/, rule: "devices.flash", reason: "empties a device",
    match: ["esptool.py erase_flash", "st-flash erase", "nrfjprog --eraseall"], not_match: ["esptool.py write_flash 0 a.bin"] },
  { rule: "devices.power", reason: POWER, dry: "", tools: [
    { program: "upscmd|upsrw|apcaccess-set|apctest|powerman|pm|fence_apc|fence_ipmilan|fence_ilo|fence_drac5|fence_vmware_soap|fence_node|stonith_admin|racadm|ilorest|omconfig|idracadm7|hponcfg|redfishtool|bmc|rackpdu|snipeit-power|wattmon", unless: /^(?:-l|--?help|-h|-q|--query|list|get|getsysinfo|status|--status|--list.*)$/, word: /./,
      match: ["upscmd -u a -p b ups@nas shutdown.return", "fence_ipmilan -a 10.0.0.9 -o off", "racadm serveraction powerdown"], not_match: ["upscmd -l ups@nas", "racadm getsysinfo"] },
    { program: "wakeonlan|etherwake|wol|ether-wake", unless: /^(?:--?help|-h|-v|-V)$/, word: /./, match: ["wakeonlan 00:11:22:33:44:55"], not_match: ["wol --help"] },
    { program: "ipmitool|ipmi-chassis-control|ipmiutil|ipmipower", word: /^(?:--?(?:off|cycle|reset|power-down|hard-reset|pulse)|-[a-z]*[dcr])$|^(?:bootdev|bootparam|user|mc|sol|raw)$/, when: (call) => call.command.program !== "ipmitool" || call.find(/^(?:set|reset|bootdev|raw|activate|enable|disable|test)$/),
      match: ["ipmipower -h 10.0.0.9 --off", "ipmitool -H x user set password 2 y"], not_match: ["ipmitool sensor list", "ipmitool user list"] },
  ] },
]);
