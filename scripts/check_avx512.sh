#!/usr/bin/env bash
# Runs kernels and bundled models on an emulated processor with AVX-512 and VNNI, for machines without.
#
#   scripts/check_avx512.sh [--build-dir DIR] [--keep FOLDER] [--tests OPTIONS] [--bochs PROGRAM] [--cpu MODEL]
#
# Bochs boots Debian's kernel with what was built in DIR (`build` by default) in its first memory; 10 to 20
# minutes, 2 GiB. There the tests of fast kernels run at each instruction set, and the bundled models with
# reference kernels give the committed hashes. Exits 1 when something differs. --keep: everything that was
# made stays in FOLDER, serial.txt being the console. --tests: doctest's options that choose tests,
# such as --subcase=*codes*. --bochs and --cpu: another Bochs than Debian's, and another of its processors,
# such as sapphire_rapids of Bochs 3.0, which has AVX512_BF16 too.
#
# Only tests whose oracle is more exact than 64 bits by itself are run: the emulator's x87 is not.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source scripts/lib/install.sh

build_dir=build folder= tests= bochs=bochs cpu=corei7_icelake_u
while (($#)); do
  case $1 in
    --help)
      sed -n '2,15s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    --build-dir) build_dir=${2:?--build-dir needs a folder} ;;
    --keep) folder=${2:?--keep needs a folder} ;;
    --tests) tests=${2:?--tests needs options} ;;
    --bochs) bochs=${2:?--bochs needs a program} ;;
    --cpu) cpu=${2:?--cpu needs a model} ;;
    *)
      echo "scripts/check_avx512.sh: unknown option $1" >&2
      exit 2
      ;;
  esac
  shift 2
done

install_missing bochs bochsbios vgabios busybox-static cpio genisoimage isolinux syslinux-common || exit 1
interp=$build_dir/tools/mllm-interp kernels_test=$build_dir/tests/unit/kernels/kernels_test
for file in "$interp" "$kernels_test"; do
  [[ -x $file ]] && continue
  echo "scripts/check_avx512.sh: '$file' is not built" >&2
  exit 2
done

if ! grep -qx "$cpu" <<<"$("$bochs" --help cpu 2>&1)"; then
  echo "scripts/check_avx512.sh: '$bochs' has no processor '$cpu'" >&2
  exit 2
fi

if [[ -z $folder ]]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"/{image/isolinux,memory/{bin,dev,proc,root,tmp},kernel} || exit 1

# The kernel for virtual machines is small and needs no module here.
package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\)/\1/p')
if ! ls "$folder"/kernel/boot/vmlinuz-* >/dev/null 2>&1; then
  (cd "$folder" && apt-get download --quiet "$package" >&2 && dpkg -x "$package"_*.deb kernel) || exit 1
fi
cp "$folder"/kernel/boot/vmlinuz-* "$folder/image/vmlinuz" || exit 1

# Programs with their libraries, the models, and what the machine does.
memory=$folder/memory
cp -L "$interp" "$kernels_test" "$memory/root/" && strip "$memory"/root/{mllm-interp,kernels_test} || exit 1
cp -r testdata/examples "$memory/root/" || exit 1
printf '%s' "$tests" >"$memory/root/tests"
cp "$(dpkg -L busybox-static | grep 'bin/busybox$')" "$memory/bin/busybox" || exit 1
ldd "$interp" "$kernels_test" | grep -o '/[^ ]*\.so[^ ]*' | sort -u | while read -r library; do
  mkdir -p "$memory$(dirname "$library")" && cp -L "$library" "$memory$library"
done
# The runs of testdata/mllm-interp/hashes.test, and the tests.
cat >"$memory/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
exec </dev/ttyS0 >/dev/ttyS0 2>&1
cd /root/examples/qwen2_tiny
echo "BEGIN"
grep -m1 '^flags' /proc/cpuinfo | grep -o 'avx512[a-z0-9_]*' | tr '\n' ' '
echo
levels="scalar avx2 avx512 avx512-vnni"
grep -q avx512_bf16 /proc/cpuinfo && levels="$levels avx512-bf16"
for level in $levels; do
  {
    /root/mllm-interp ../foo_net.mir -w random:7 -i random:8 --isa=$level
    /root/mllm-interp model.mir -w model.safetensors -i ids=ids.npy -i positions=positions.npy --then=20 \
      --feed='ids=argmax(%logits)' --feed='positions=$past' --isa=$level | tail -n 2
  } 2>/dev/null | sed "s/^/HASH $level /"
done
cd /tmp
set -f
/root/kernels_test --test-suite='fast kernels' $(cat /root/tests) --no-colors=true && echo "TESTS PASSED"
echo "END"
sleep 2
poweroff -f
INIT
chmod +x "$memory/init"
(cd "$memory" && find . | cpio --quiet -o -H newc | gzip -1) >"$folder/image/memory.gz" || exit 1

# What the kernel must not use of this processor: the form of saved registers whose size Bochs misstates,
# and instructions for privileged code (RDPID, UMIP, FSRM) with which it does not start.
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$folder/image/isolinux/" || exit 1
cat >"$folder/image/isolinux/isolinux.cfg" <<'CONFIG'
DEFAULT check
PROMPT 0
LABEL check
 KERNEL /vmlinuz
 APPEND initrd=/memory.gz console=ttyS0 mitigations=off nokaslr idle=nomwait lsm=capability apparmor=0 no5lvl clearcpuid=515,321,323,534,514,580
CONFIG
genisoimage -quiet -R -o "$folder/check.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot \
  -boot-load-size 4 -boot-info-table "$folder/image" || exit 1
# Debian's Bochs has its debugger built in: it waits for a command, and its standard input must not end. Of the
# screens that other builds may have, all but this one need something to show them on.
commands=() devices='display_library: nogui'
if grep -q -e ' -rc ' <<<"$("$bochs" --help 2>&1)"; then
  echo c >"$folder/commands"
  commands=(-rc "$folder/commands")
fi
if [[ $bochs == bochs ]]; then
  devices='display_library: rfb, options="timeout=0"
sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy'
fi
cat >"$folder/bochsrc" <<CONFIG
megs: 2048
cpu: model=$cpu, count=1, ips=100000000, reset_on_triple_fault=0
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
ata0-master: type=cdrom, path=$folder/check.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$folder/serial.txt
$devices
clock: sync=none
log: $folder/bochs.log
panic: action=fatal
CONFIG
rm -f "$folder/serial.txt"
tail --pid=$$ -f /dev/null | timeout 3600 "$bochs" -q -f "$folder/bochsrc" "${commands[@]}" >"$folder/bochs.out" 2>&1 &
emulator=$!
until grep -q '^END' "$folder/serial.txt" 2>/dev/null || ! kill -0 "$emulator" 2>/dev/null; do sleep 5; done
kill "$emulator" 2>/dev/null

result=0
console=$(tr -d '\r' <"$folder/serial.txt")
sed -n '/^BEGIN/,/^END/p' <<<"$console"
committed=$(sort -u testdata/mllm-interp/hashes.out)
while read -r level line; do
  grep -qxF -- "$line" <<<"$committed" && continue
  echo "not in testdata/mllm-interp/hashes.out, at $level: $line"
  result=1
done < <(sed -n 's/^HASH //p' <<<"$console")
# Four outputs of one model, one of the other and its tokens.
levels=(scalar avx2 avx512 avx512-vnni)
sed -n '/^BEGIN/{n;p}' <<<"$console" | grep -q avx512_bf16 && levels+=(avx512-bf16)
for level in "${levels[@]}"; do
  (($(grep -c "^HASH $level " <<<"$console") == 6)) && continue
  echo "results are missing at $level"
  result=1
done
grep -q '^TESTS PASSED' <<<"$console" || result=1
((result)) && echo "scripts/check_avx512.sh: failed"
exit "$result"
